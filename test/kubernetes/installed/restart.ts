import { randomBytes } from 'node:crypto'
import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from './under-load.ts'

const shardsTimeoutMs = 180_000

/** Replaces the pods of a workload, such as `deploy/fxd-rest`. Resolves once the new pods are ready. */
export async function restartWorkload({ kubectl }: UnderLoad, workload: string): Promise<void> {
  await kubectl('rollout', 'restart', workload)
  await kubectl('rollout', 'status', workload, '--timeout=300s')
}

/**
 * Replaces the pods of a role, as in docs/kubernetes.md; the pool of shards must have two. Resolves once the new pods
 * are ready and the old pods are deleted.
 */
export async function restartRole(loaded: UnderLoad, role: 'rest' | 'stream' | 'ingest'): Promise<void> {
  if (role !== 'stream') return restartDeployment(loaded, role)
  const mark = randomBytes(8).toString('hex')
  const patch = JSON.stringify({ spec: { template: { metadata: { annotations: { mark } } } } })
  await loaded.kubectl('patch', 'streampool/fxd-stream', '--type=merge', '-p', patch)
  const marks = '-o=jsonpath={.items[*].metadata.annotations.mark}'
  await within(shardsTimeoutMs, 'new shards', async () => {
    const seen = await loaded.kubectl('get', 'pods', '-l', 'marketdata.fxd.dev/streampool', marks)
    return seen.split(' ').filter((each) => each === mark).length === 2
  })
  await loaded.shards(2)
}

async function restartDeployment(loaded: UnderLoad, role: string): Promise<void> {
  const pods = await loaded.kubectl('get', 'pods', '-l', `app.kubernetes.io/component=${role}`, '-o=name')
  await restartWorkload(loaded, `deploy/fxd-${role}`)
  // The rollout does not wait for pods that still terminate, whose sessions end later.
  await loaded.kubectl('wait', '--for=delete', ...pods.trim().split('\n'), '--timeout=120s')
}
