import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { parse } from 'yaml'
import { seed } from '../acceptance/client/seed.ts'
import type { Target } from '../acceptance/client/target.ts'
import { newKey } from '../support/clients/new-key.ts'
import { freePorts } from '../support/free-ports.ts'
import { Daemon } from './cluster/daemon.ts'
import { domain, ports } from './cluster/ingress.ts'
import { kubernetesPrograms } from './cluster/programs.ts'
import { type Installed, namespace, startInstalled } from './installed/installed.ts'
import { Outside } from './installed/outside.ts'
import { kubectlOf, secretValue } from './installed/under-load.ts'
import { tlsTunnel } from './tls-tunnel.ts'

const repository = join(import.meta.dirname, '../..')
const manifests = join(repository, 'test/acceptance/feeds')
/** The loopback address whose X-Forwarded-For the acceptance suite expects to be trusted. */
const trustedProxy = '127.0.0.2'
const input = 'input'
const httpPort = 8080
const opsPort = 9464
/** API keys, and tokens of charts. */
const keyShape = /fxd_[0-9a-f]{32}|fxc_[\w-]{20}/

/** Installs the charts as the service of the acceptance suite, which uses it through the ingress with TLS. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(tmpdir(), 'fxd-acceptance-'))
  const installed = await startInstalled({ prepare: trustIngress })
  const stops: (() => Promise<unknown>)[] = [() => installed.stop()]
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each()
  }
  try {
    const inputFolder = await applyFeeds(installed)
    const log = join(home, 'service.log')
    const follower = followLogs(installed, log)
    stops.push(() => follower.kill())
    const [port = 0] = await freePorts(1)
    const ingress = `${installed.cluster.network.address}:${ports.https}`
    const tunnel = tlsTunnel({ home, port, ingress, domain, authority: installed.ca })
    stops.push(() => tunnel.kill())
    await tunnel.start()
    const { target, commandEnv } = await targetOf(installed, { home, port, log, inputFolder })
    await seed(target)
    const key = await newKey(commandEnv, '--plan basic --feeds BROKERA:ZERO')
    await new Outside(installed).untilUpgraded(key)
    project.provide('target', target)
  } catch (cause) {
    await stop()
    throw cause
  }
  return async () => {
    const written = [...(await keysInMetrics(installed)), ...keysIn(join(home, 'service.log'))]
    await stop()
    if (written.length > 0) throw new Error(written.join('\n'))
    rmSync(home, { recursive: true, force: true })
  }
}

/** Trusts the addresses of the tunnel (the machine's) and of Envoy, which is not a pod. */
const trustIngress = ({ network, nodes }: Installed['cluster']): Promise<object> => {
  const bridges = nodes.map((_, i) => network.bridgeAddress(i + 1))
  const addresses = [...bridges, network.machineAddress, trustedProxy]
  return Promise.resolve({ trustedProxies: addresses.map((each) => `${each}/32`) })
}

/** Applies the Feeds of the suite, whose followed files are in one claim. Returns the folder of its volume. */
async function applyFeeds(installed: Installed): Promise<string> {
  const kubectl = kubectlOf(installed)
  await installed.cluster.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: input, namespace },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })
  await kubectl('wait', `pvc/${input}`, '--for=jsonpath={.status.phase}=Bound', '--timeout=60s')
  const volume = await kubectl('get', `pvc/${input}`, '-o=jsonpath={.spec.volumeName}')
  const folder = await kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
  const feeds = readdirSync(manifests).map((file) => {
    const text = readFileSync(join(manifests, file), 'utf8').replaceAll('INPUT_FOLDER/', '')
    const feed = parse(text) as FeedManifest
    const { metadata, spec } = feed
    if (spec.source.type === 'Mt5Csv') mkdirSync(join(folder, metadata.name))
    const source = { ...spec.source, ...(spec.source.type === 'Mt5Csv' && { volumeClaim: input }) }
    return { ...feed, metadata: { ...metadata, namespace }, spec: { ...spec, source } }
  })
  await installed.cluster.apply(...feeds)
  await kubectl('wait', 'feeds', '--all', '--for=condition=Ready', '--timeout=400s')
  return folder
}

interface FeedManifest {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly source: { readonly type: string } }
}

/** Follows the logs of all current pods; none is replaced during the run. */
function followLogs({ cluster }: Installed, file: string): Daemon {
  const { kubectl } = kubernetesPrograms()
  const chosen = ['-l', 'app.kubernetes.io/part-of=fxd', '--all-containers', '--max-log-requests=50']
  const command = [
    'logs',
    `--kubeconfig=${cluster.kubeconfig}`,
    '-n',
    namespace,
    ...chosen,
    '-f',
    '--tail=-1',
  ]
  const follower = new Daemon('logs', [kubectl, ...command], file)
  follower.start()
  return follower
}

interface Places {
  readonly home: string
  readonly port: number
  readonly log: string
  readonly inputFolder: string
}

async function targetOf(
  installed: Installed,
  { home, port, log, inputFolder }: Places,
): Promise<{ target: Target; commandEnv: Readonly<Record<string, string>> }> {
  const kubectl = kubectlOf(installed)
  const token = join(home, 'token')
  writeFileSync(token, `${await secretValue(kubectl, 'fxd-admin-token', 'token')}\n`, { mode: 0o600 })
  const grpc = await new Outside(installed).exposeIngest()
  const commandEnv = { FXD_GRPC_ADDR: grpc, FXD_TOKEN_FILE: token }
  const assigned = Object.entries(commandEnv).map(([name, value]) => `${name}='${value}'`)
  const tool = `${assigned.join(' ')} '${join(repository, 'bin/node')}' '${join(repository, 'services/main.ts')}'`
  const basesOf = async (role: string): Promise<readonly string[]> =>
    (await addressesOf(installed, `app.kubernetes.io/component=${role}`)).map(
      (ip) => `http://${ip}:${httpPort}`,
    )
  const [rest] = await addressesOf(installed, 'app.kubernetes.io/component=rest')
  const target = {
    url: `http://127.0.0.1:${port}`,
    ws: `ws://127.0.0.1:${port}`,
    ops: `http://${rest}:${opsPort}`,
    grpc,
    token,
    issuer: `${tool} keys`,
    importer: `${tool} import`,
    input: inputFolder,
    log,
    pods: { rest: await basesOf('rest'), stream: await basesOf('stream') },
  }
  return { target, commandEnv }
}

async function addressesOf(installed: Installed, label: string): Promise<readonly string[]> {
  const path = '-o=jsonpath={.items[*].status.podIP}'
  return (await kubectlOf(installed)('get', 'pods', '-l', label, path)).split(' ')
}

const keysIn = (log: string): string[] =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => keyShape.test(line))
    .map((line) => `a key was written to a log: ${line}`)

async function keysInMetrics(installed: Installed): Promise<readonly string[]> {
  const addresses = await addressesOf(installed, 'app.kubernetes.io/part-of=fxd')
  const found = await Promise.all(
    addresses.map(async (address) => {
      const text = await (await fetch(`http://${address}:${opsPort}/metrics`)).text()
      return text
        .split('\n')
        .filter((line) => keyShape.test(line))
        .map((line) => `${address} wrote a key to its metrics: ${line}`)
    }),
  )
  return found.flat()
}
