import { seeded } from '../../faults/seeded.ts'
import { within } from '../../faults/within.ts'
import { deliveredKey } from './delivered-key.ts'
import { type Installed, namespace, startInstalled } from './installed.ts'
import { loadKey, pushFeed } from './objects.ts'
import { Outside } from './outside.ts'
import { Traffic } from './traffic.ts'

const drainedMs = 300_000

/** A service in a cluster, and the clients that use it all the time. */
export interface UnderLoad {
  readonly installed: Installed
  readonly outside: Outside
  readonly traffic: Traffic
  readonly kubectl: (...args: readonly string[]) => Promise<string>
  /** Resolves once the object's condition Ready is True. */
  ready(kind: string, name: string): Promise<string>
  /** Resolves once the pool has so many shards, all of them ready, and no other one is still draining. */
  shards(count: number): Promise<void>
  stop(): Promise<void>
}

export const kubectlOf =
  ({ cluster }: Installed) =>
  (...args: readonly string[]): Promise<string> =>
    cluster.kubectl('-n', namespace, ...args)

export async function putUnderLoad(installed: Installed): Promise<UnderLoad> {
  const kubectl = kubectlOf(installed)
  const outside = new Outside(installed)
  const ready = (kind: string, name: string): Promise<string> =>
    kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=150s')
  await installed.cluster.apply(pushFeed, loadKey)
  await Promise.all([ready('feed', 'brokera-zero'), ready('apikey', 'load')])
  const token = await kubectl('get', 'secret', 'brokera-zero-token', '-o=jsonpath={.data.token}')
  const key = await deliveredKey(installed.cluster, namespace, 'load')
  await outside.untilUpgraded(key)
  const traffic = new Traffic({
    outside,
    ingest: await outside.exposeIngest(),
    token: Buffer.from(token, 'base64').toString().trim(),
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

/** For a file: a cluster of its own with a service under load. */
export async function startUnderLoad(options: { readonly nodes?: number } = {}): Promise<UnderLoad> {
  const installed = await startInstalled(options)
  try {
    const loaded = await putUnderLoad(installed)
    return {
      ...loaded,
      stop: async () => {
        await loaded.stop()
        await installed.stop()
      },
    }
  } catch (cause) {
    await installed.stop()
    throw cause
  }
}
