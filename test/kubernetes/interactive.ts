import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { kubernetesPrograms } from './cluster/programs.ts'
import { refusal } from './cluster/refusal.ts'
import { deliveredKey } from './installed/delivered-key.ts'
import { type Installed, namespace, startInstalled } from './installed/installed.ts'

/** `make kubernetes`: a cluster with the charts installed, for manual use. */
const reason = refusal()
if (reason !== undefined) {
  process.stderr.write(`make kubernetes cannot run here: ${reason}.\n`)
  process.exit(1)
}
const home = mkdtempSync(join(tmpdir(), 'fxd-kubernetes-person-'))
const firstFeed = join(import.meta.dirname, '../../charts/fxd/files/first-feed.yaml')
const kubeconfig = join(home, 'kubeconfig')

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Resolves at a signal, which may arrive while the parts are still starting. */
const asksToEnd = new Promise<void>((resolve) => {
  process.on('SIGTERM', () => resolve())
  process.stdin.on('close', () => resolve()).resume()
})

async function greet({ cluster, url, ca }: Installed): Promise<string> {
  copyFileSync(cluster.kubeconfig, kubeconfig)
  await cluster.kubectl('apply', '-n', namespace, '-f', firstFeed)
  const key = await deliveredKey(cluster, namespace, 'first')
  const host = new URL(url)
  const resolved = `--resolve ${host.hostname}:${host.port}:${cluster.network.address}`
  return [
    'The cluster is ready; Ctrl-C ends it.',
    '',
    `  export KUBECONFIG=${kubeconfig} PATH="${dirname(kubernetesPrograms().kubectl)}:$PATH"    # kubectl and helm`,
    `  kubectl get fxd -n ${namespace}`,
    '',
    `  REST and WebSocket, through the Ingress  ${url} at ${cluster.network.address}`,
    `  logs and data, removed at the end        ${cluster.folder}`,
    `  certificate authority                    ${ca}`,
    '',
    `The key of the ApiKey "first", of charts/fxd/files/first-feed.yaml: ${key}`,
    '',
    `  curl ${resolved} --cacert ${ca} -H 'X-API-Key: ${key}' '${url}/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=5'`,
    '',
  ].join('\n')
}

say('Starting QuestDB, Redis, a control plane, two nodes and an ingress; installing both charts…')
const starting = startInstalled()
const giveUp = async (cause: Error): Promise<never> => {
  process.stderr.write(`${cause.message}\n`)
  await starting.then((installed) => installed.stop()).catch(() => undefined)
  process.exit(1)
}
const words = await Promise.race([starting.then(greet), asksToEnd]).catch(giveUp)
if (words) {
  say(words)
  await asksToEnd
} else say('The cluster ends once everything has started.')
await (await starting.catch(giveUp)).stop()
rmSync(home, { recursive: true, force: true })
process.exit(0)
