import { hostname } from 'node:os'
import { KubeConfig } from '@kubernetes/client-node'
import { type Config, ConfigError } from '../services/platform/config.ts'
import { readSecretFile } from '../services/platform/credentials/secrets.ts'
import { readTls } from '../services/platform/credentials/tls.ts'
import { readToken, tokenPath } from '../services/platform/credentials/token.ts'
import { formatAddress, reachable } from '../services/platform/listen.ts'
import { drainAndStop, type Stoppable } from '../services/platform/process/drain-and-stop.ts'
import { type Overrides, runProcess } from '../services/platform/process/process-context.ts'
import { startHealth } from '../services/platform/process/start-health.ts'
import type { ClientIdentity } from '../services/wire/client.ts'
import { readTemplate } from './feed/template.ts'
import { RunningControllers } from './run-controllers.ts'

interface RunningOperator extends Stoppable {
  readonly opsPort: number
}

/** One replica acts, the others are standby. Throws `ConfigError` when a required file is missing. */
export async function startOperator(config: Config, overrides: Overrides = {}): Promise<RunningOperator> {
  const kube = kubeConfig()
  const { collectorTemplate } = config
  const settings = {
    kube,
    namespace: config.namespace ?? namespaceOf(kube),
    identity: config.podName ?? hostname(),
    template: collectorTemplate === undefined ? undefined : readTemplate(collectorTemplate),
    ingest: config.ingest.map((address) => formatAddress(reachable(address))),
    admin: () => adminIdentity(config),
    shard: () => shardIdentity(config),
  }
  settings.admin()
  settings.shard()
  return runProcess(config, overrides, async (context) => {
    const health = await startHealth(context)
    const running = await context.lifecycle.start({
      name: 'controllers',
      start: () => new RunningControllers(context, settings),
      stop: (started) => started.close(),
    })
    health.setCheck(() => running.notSynced())
    health.listening()
    return { opsPort: health.port, ...drainAndStop(context, health, () => Promise.resolve()) }
  })
}

/** Reads KUBECONFIG or the kubeconfig of the home folder; in a pod, the service account. */
function kubeConfig(): KubeConfig {
  const kube = new KubeConfig()
  try {
    kube.loadFromDefault()
  } catch (cause) {
    throw new ConfigError(`The kubeconfig cannot be used: ${(cause as Error).message}.`)
  }
  const server = kube.getCurrentCluster()?.server
  if (server?.startsWith('https://')) return kube
  throw new ConfigError(
    'No Kubernetes API server over https is configured: run fxd operator in a pod, or set KUBECONFIG to a kubeconfig.',
  )
}

const namespaceOf = (kube: KubeConfig): string =>
  kube.getContextObject(kube.getCurrentContext())?.namespace?.trim() || 'default'

/** Reads the files at each call, because they may be replaced. */
function adminIdentity(config: Config): ClientIdentity {
  const token = readToken(config)
  const tls = readTls(config)
  if (token !== undefined || tls?.pair) return { token, tls }
  throw new ConfigError(
    `The administration token is missing at ${tokenPath(config)}: set FXD_TOKEN_FILE to the file that ingest uses.`,
  )
}

function shardIdentity(config: Config): ClientIdentity {
  const path = config.shardTokenFile
  const [token] =
    path === undefined ? [readToken(config)] : (readSecretFile(path, 'FXD_SHARD_TOKEN_FILE') ?? [])
  const tls = readTls(config)
  if (path !== undefined && token === undefined)
    throw new ConfigError(`FXD_SHARD_TOKEN_FILE: there is no file at ${path}.`)
  return { token, tls }
}
