import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { feed } from '../../faults/support/market.ts'
import { seeded } from '../../faults/support/seeded.ts'
import { within } from '../../faults/support/within.ts'
import { effort } from '../../support/effort.ts'
import { compactHistory } from '../cluster/compact-history.ts'
import { blockApiServer, blockNode } from '../cluster/firewall.ts'
import { killLeader } from '../installed/kill-leader.ts'
import { apiKey } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, flows, recoveryMs } from './expect-nothing-missed.ts'
import { type Followers, startFollowers } from './followers.ts'

/** Unplanned failures: pushed bars and history together are complete, and every missed bar is named in a gap. */
const startTimeoutMs = 900_000
const minuteMs = 60_000
/** At most ten: all tests share the minutes of the feed. */
const kills = Math.min(10, Math.max(3, effort))
/** Maximum seconds from a change of the pool to the kill, so that kills hit each step of the change. */
const secondsToKillMax = 20
/** Below a day: a GAP frame names what is older than that when a socket resumes. */
const hoursBack = 23

let loaded: UnderLoad
let followers: Followers
beforeAll(async () => {
  loaded = await startUnderLoad({ nodes: 3, hoursBack })
  followers = await startFollowers(loaded)
}, startTimeoutMs)
afterAll(async () => {
  await followers?.stop()
  await loaded?.stop()
})

const logOf = (...args: readonly string[]): Promise<string> => loaded.kubectl('logs', '--tail=-1', ...args)
const nodeIs = (name: string, status: string): Promise<void> =>
  within(recoveryMs, `${name} to be ${status}`, async () => {
    const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    return (await loaded.installed.cluster.kubectl('get', 'node', name, path)) === status
  })

test('repeated kills of the operator while shards are added and removed lose no bar', async () => {
  const { seed, random } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${kills} kills of the operator`)
  for (let kill = 0; kill < kills; kill += 1) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${kill % 2 === 0 ? 3 : 2}`)
    await pause(1_000 * secondsToKillMax * random())
    await killLeader(loaded)
  }
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
  await loaded.shards(2)
  expect(loaded.traffic.checkPlanned()).toEqual([])
  await expectNothingMissed(loaded, `${kills} kills of the operator`)
})

test('a kill of the API server loses no bar, and changes of that time are applied afterwards', async () => {
  const { controlPlane } = loaded.installed.cluster
  await controlPlane.killApi()
  await flows(loaded, 20)
  await controlPlane.startApi()
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
  await loaded.shards(3)
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
  await loaded.shards(2)
  expect(loaded.traffic.checkPlanned()).toEqual([])
  await expectNothingMissed(loaded, 'API server killed')
})

test('an operator that was cut off while the API server lost its history applies the changes of that time', async () => {
  const { controlPlane, network, apply } = loaded.installed.cluster
  const operators = ['pods', '-l', 'app.kubernetes.io/component=operator']
  const addresses = await loaded.kubectl('get', ...operators, '-o=jsonpath={.items[*].status.podIP}')
  const blocked = await blockApiServer(network, addresses.split(' '))
  await apply(apiKey('meanwhile', { plan: 'basic', feeds: [feed] }))
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
  // Ends all watches; none can continue from its version.
  await controlPlane.killApi()
  await compactHistory(network)
  await controlPlane.startApi()
  await apply(apiKey('afterwards', { plan: 'basic', feeds: [feed] }))
  await flows(loaded, 20)
  await blocked.remove()
  await Promise.all(['meanwhile', 'afterwards'].map((key) => loaded.ready('apikey', key)))
  await loaded.shards(3)
  expect(await logOf(...operators.slice(1), '--prefix')).toMatch(/too old/)
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
  await loaded.shards(2)
  expect(loaded.traffic.checkPlanned()).toEqual([])
  await expectNothingMissed(loaded, 'watch history compacted')
})

test('restarts of Redis and QuestDB lose no bar', async () => {
  const { redis, questdb } = loaded.installed.stores
  for (const server of [redis, questdb]) {
    await server.kill()
    await server.start()
    await flows(loaded, 20)
  }
  await expectNothingMissed(loaded, 'Redis and QuestDB restarted')
})

test('a node that is isolated for a minute loses no bar', async () => {
  const { network, nodes } = loaded.installed.cluster
  for (const [i, { name }] of nodes.entries()) {
    const blocked = await blockNode(network, i + 1)
    await nodeIs(name, 'Unknown')
    await pause(minuteMs)
    await blocked.remove()
    await nodeIs(name, 'True')
    await loaded.shards(2)
    await flows(loaded, 20)
  }
  await expectNothingMissed(loaded, 'partitions')
})

test('a power cut of a node loses no bar', async () => {
  for (const node of loaded.installed.cluster.nodes) {
    await node.powerCut()
    await nodeIs(node.name, 'Unknown')
    await flows(loaded, 20)
    await node.start()
    await loaded.shards(2)
  }
  await expectNothingMissed(loaded, 'power cuts')
})

test('after all failures both clients, outside of the cluster, gave each bar once and in order', async () => {
  await loaded.traffic.stop()
  expect(await followers.complaints()).toEqual([])
})
