import { afterAll, beforeAll, test } from 'vitest'
import { replacingAllPods } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNoViolation } from './expect-nothing-missed.ts'

/** Planned removals: no bar is missed, sockets are closed only with 1012, and no request fails. */
const startTimeoutMs = 900_000

let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad({ nodes: 3, hoursBack: 12 })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

test('kubectl scale from 2 shards to 4 and back loses no bar', async () => {
  for (const count of [4, 2]) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${count}`)
    await loaded.shards(count)
    // Adds clients, so that new shards get sockets, too.
    await loaded.traffic.join(12)
  }
  await expectNoViolation(loaded, 'scale')
})

test('a rolling upgrade and its rollback lose no bar', async () => {
  const { installed } = loaded
  await installed.upgrade(replacingAllPods('upgrade'))
  await loaded.shards(2)
  await installed.cluster.helm('rollback', 'fxd', '-n', 'fxd', '--wait', '--timeout=10m')
  await loaded.shards(2)
  await expectNoViolation(loaded, 'upgrade and rollback')
})

test('kubectl drain of one node after another loses no bar', async () => {
  const { kubectl } = loaded.installed.cluster
  for (const { name } of loaded.installed.cluster.nodes) {
    await kubectl('drain', name, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=400s')
    await loaded.shards(2)
    await kubectl('uncordon', name)
  }
  await expectNoViolation(loaded, 'drain')
})

test('a Kubernetes autoscaler that scales the pool loses no bar', async () => {
  for (const replicas of [3, 2]) {
    const patch = JSON.stringify({ spec: { replicas } })
    await loaded.kubectl('patch', 'streampool/fxd-stream', '--subresource=scale', '--type=merge', '-p', patch)
    await loaded.shards(replicas)
  }
  await expectNoViolation(loaded, 'scale subresource')
})
