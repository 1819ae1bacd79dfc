import { afterAll, beforeAll, expect, test } from 'vitest'
import { within } from '../../faults/within.ts'
import { effort } from '../../support/effort.ts'
import { killLeader } from '../cluster/kill-leader.ts'
import { startUnderLoad, type UnderLoad } from '../cluster/under-load.ts'

/** Failures that nobody planned: what was pushed and what history fills is everything, and nothing is missed unnamed. */
const startTimeoutMs = 900_000
const recoveryMs = 300_000
const kills = Math.max(3, effort)

let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad({ nodes: 3 })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const expectNothingMissed = async (what: string): Promise<void> => {
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.judgeUnplanned()).toEqual([])
  console.log(`${what}: 0 bars missed unnamed, ${loaded.traffic.summary()}`)
}
/** Resolves once so many more minutes of the feed were acknowledged. */
const flows = (minutes: number): Promise<void> => {
  const until = loaded.traffic.minutes + minutes
  return within(recoveryMs, 'bars to flow', () => loaded.traffic.minutes >= until)
}
const nodeIs = (name: string, status: string): Promise<void> =>
  within(recoveryMs, `${name} to be ${status}`, async () => {
    const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    return (await loaded.installed.cluster.kubectl('get', 'node', name, path)) === status
  })

test('an operator that is killed again and again while shards are added and removed loses no bar', async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${kill % 2 === 0 ? 3 : 2}`)
    await killLeader(loaded)
  }
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
  await loaded.shards(2)
  expect(loaded.traffic.judgePlanned()).toEqual([])
  await expectNothingMissed(`${kills} kills of the operator`)
})

test('an API server that is killed and comes back loses no bar, and what changed meanwhile is done then', async () => {
  const { controlPlane } = loaded.installed.cluster
  await controlPlane.apiServer.kill()
  await flows(20)
  controlPlane.apiServer.start()
  await controlPlane.ready()
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
  await loaded.shards(3)
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
  await loaded.shards(2)
  expect(loaded.traffic.judgePlanned()).toEqual([])
  await expectNothingMissed('API server killed')
})

test('Redis and QuestDB that are restarted lose no bar', async () => {
  const { redis, questdb } = loaded.installed.stores
  for (const server of [redis, questdb]) {
    await server.kill()
    await server.start()
    await flows(20)
  }
  await expectNothingMissed('Redis and QuestDB restarted')
})

test('the power cut of a node loses no bar', async () => {
  for (const node of loaded.installed.cluster.nodes) {
    await node.powerCut()
    await nodeIs(node.name, 'Unknown')
    await flows(20)
    await node.start()
    await loaded.shards(2)
  }
  await expectNothingMissed('power cuts')
})
