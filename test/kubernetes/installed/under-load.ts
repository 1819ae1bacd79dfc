import { setTimeout as pause } from 'node:timers/promises'
import type { ClientTls } from '../../../services/wire/client.ts'
import { seeded } from '../../faults/support/seeded.ts'
import { within } from '../../faults/support/within.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import type { Kubectl } from '../cluster/kubectl.ts'
import { deliveredKey } from './delivered-key.ts'
import { type Installed, type InstalledOptions, namespace, startInstalled } from './installed.ts'
import { loadKey, pushFeed } from './objects.ts'
import { Outside } from './outside.ts'
import { Traffic } from './traffic.ts'

const drainedMs = 300_000
/** Maximum wait for the load to stop; then its cluster ends. */
const stopTimeoutMs = 30_000

/** A service in a cluster under continuous load. */
export interface UnderLoad {
  readonly installed: Installed
  readonly outside: Outside
  readonly traffic: Traffic
  readonly kubectl: Kubectl
  /** Resolves once the object's condition Ready is True. */
  ready(kind: string, name: string): Promise<string>
  /** Resolves once the pool has this many shards, all ready, and no other shard drains. */
  shards(count: number): Promise<void>
  stop(): Promise<void>
}

export const kubectlOf =
  ({ cluster }: Installed) =>
  (...args: readonly string[]): Promise<string> =>
    cluster.kubectl('-n', namespace, ...args)

export interface LoadOptions {
  /** Authorities that the collector trusts, if the service was installed with TLS between pods. */
  readonly ingestTls?: (cluster: KubernetesCluster) => ClientTls
  /** Maximum hours of feed time that the load covers; default 6. */
  readonly hoursBack?: number
}

export async function putUnderLoad(
  installed: Installed,
  { ingestTls, hoursBack }: LoadOptions = {},
): Promise<UnderLoad> {
  const kubectl = kubectlOf(installed)
  const outside = new Outside(installed)
  const ready = (kind: string, name: string): Promise<string> =>
    kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=150s')
  await installed.cluster.apply(pushFeed, loadKey)
  await Promise.all([ready('feed', 'brokera-zero'), ready('apikey', 'load')])
  const token = await secretValue(kubectl, 'brokera-zero-token', 'token')
  const key = await deliveredKey(installed.cluster, namespace, 'load')
  await outside.untilUpgraded(key)
  const traffic = new Traffic({
    outside,
    ingest: await outside.exposeIngest(),
    token,
    tls: ingestTls?.(installed.cluster),
    hoursBack,
    key,
    random: seeded().random,
  })
  await traffic.start()
  return {
    installed,
    outside,
    traffic,
    kubectl,
    ready,
    shards: async (count) => {
      const replicas = `--for=jsonpath={.status.replicas}=${count}`
      await kubectl('wait', 'streampool/fxd-stream', replicas, '--timeout=300s')
      await ready('streampool', 'fxd-stream')
      await within(drainedMs, 'all other shards to end', async () => {
        const pods = await kubectl('get', 'pods', '-l', 'marketdata.fxd.dev/streampool', '-o=name')
        return pods.trim().split('\n').length === count
      })
    },
    stop: () => traffic.stop(),
  }
}

/** The value of a Secret without its trailing newline. */
export async function secretValue(kubectl: Kubectl, secret: string, field: string): Promise<string> {
  const encoded = await kubectl(
    'get',
    'secret',
    secret,
    `-o=jsonpath={.data.${field.replaceAll('.', '\\.')}}`,
  )
  return Buffer.from(encoded, 'base64').toString().trim()
}

/** Starts a separate cluster for a test file, with a service under load. */
export async function startUnderLoad(options: InstalledOptions & LoadOptions = {}): Promise<UnderLoad> {
  const installed = await startInstalled(options)
  try {
    const loaded = await putUnderLoad(installed, options)
    return {
      ...loaded,
      stop: async () => {
        const stopped = loaded.stop()
        // After a failed test ingest may be away, and the feeder waits for it.
        const late = pause(stopTimeoutMs, undefined, { ref: false })
        try {
          await Promise.race([stopped, late])
        } finally {
          await installed.stop()
        }
      },
    }
  } catch (cause) {
    await installed.stop()
    throw cause
  }
}
