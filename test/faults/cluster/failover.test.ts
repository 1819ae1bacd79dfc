import { expect, onTestFinished, test } from 'vitest'
import { effort } from '../../support/effort.ts'
import { Failovers } from '../../support/redis/failovers.ts'
import { startRedisGroup } from '../../support/redis/sentinels.ts'
import { ClusterFixture } from '../support/cluster-fixture.ts'
import { flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const failovers = Math.max(2, Math.round(effort))

test('a Redis failover to the replica after a kill of the primary costs no bar, no socket and no session', {
  timeout: 400_000 + failovers * 60_000,
}, async () => {
  const { random, seed } = seeded()
  const hint = `FXD_TEST_SEED=${seed}`
  console.log(`${hint}: ${failovers} failovers`)
  const group = await startRedisGroup()
  onTestFinished(() => group.stop())
  const sentinels = group.sentinels.map(({ host, port }) => `${host}:${port}`).join(',')
  const fixture = await ClusterFixture.start({
    random,
    minuteMs: 400,
    cluster: {
      podEnv: (name): Record<string, string> =>
        name.startsWith('collector-')
          ? {}
          : { FXD_REDIS_SENTINELS: sentinels, FXD_REDIS_MASTER: group.master },
    },
  })
  onTestFinished(async () => void (await fixture.end()))
  const { users, live, outages } = fixture
  const before = [users.sockets, users.gapsNamed, live.broken]
  for (let i = 0; i < failovers; i++) {
    const fromMs = Date.now()
    await Promise.all([new Failovers(group, 1).run(), flows([live], 10)])
    await flows([live], 5)
    outages.push({ fromMs, untilMs: Date.now() })
  }
  await fixture.caughtUp()
  const cause = `${hint}; the last session ended by ${live.brokenBy}`
  expect([users.sockets, users.gapsNamed, live.broken], cause).toEqual(before)
  expect(await fixture.judge(), hint).toEqual([])
  console.log(fixture.summary())
  expect(await fixture.end(), hint).toEqual([])
})
