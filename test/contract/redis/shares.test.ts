import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noCounters } from '../../../services/core/keys/usage.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import {
  freshPrefix,
  isBack,
  type OpenedRedis,
  openInTest,
  prepareInTest,
  timeOfTests,
} from '../../support/redis/stores.ts'

const longTimeout = { timeout: 15_000 }
const minuteMs = 60_000
const today = '2026-01-05'
const isDown = (pod: OpenedRedis): Promise<void> =>
  vi.waitFor(async () => expect(await pod.metric('fxd_redis_up')).toBe(0), longTimeout)

let server: RedisServer
beforeEach(async () => {
  server = await startRedis()
})
afterEach(() => server.stop())

/** How many of simultaneous requests of the key a pod admits. */
async function admittedBy(pod: OpenedRedis, rates: { rpm: number; rpd: number }, times: number) {
  const decisions = await Promise.all(
    Array.from({ length: times }, () => pod.stores.limits.admit('key', rates, 'history')),
  )
  return decisions.filter(({ outcome }) => outcome === 'admitted').length
}

test('while Redis is away each pod admits its share of each minute, whatever it admitted before; the counts are added later', async () => {
  const rates = { rpm: 40, rpd: 1_000 }
  const time = timeOfTests()
  const prefix = freshPrefix()
  const pods = await Promise.all([1, 2, 3].map(() => openInTest(server, { prefix, time })))
  for (const pod of pods) expect(await admittedBy(pod, rates, 3)).toBe(3)
  // Every pod has seen the others.
  await vi.waitFor(async () => {
    for (const pod of pods) expect(await pod.metric('fxd_limits_pods')).toBe(3)
  }, longTimeout)
  await server.kill()
  for (const pod of pods) await isDown(pod)

  for (const pod of pods) expect(await admittedBy(pod, rates, 50)).toBe(13)
  expect(await pods[0]!.metric('fxd_limits_by_share_total')).toBe(50)
  await time.advance(minuteMs)
  for (const pod of pods) expect(await admittedBy(pod, rates, 1)).toBe(1)

  await server.start()
  for (const pod of pods) await isBack(pod)
  const usage = () => pods[0]!.stores.limits.usage('key', today, today)
  const requests = 3 * (13 + 1)
  await vi.waitFor(
    async () =>
      expect((await usage()).get(today)).toEqual({
        ...noCounters,
        requests,
        history: requests,
        rate_limited: 3 * (50 - 13),
      }),
    longTimeout,
  )
  // The present rate window includes the requests of the outage.
  expect(await pods[1]!.stores.limits.admit('key', rates, 'history')).toMatchObject({
    outcome: 'admitted',
    state: { remainingMinute: 40 - 3 - 1 },
  })
})

test('a pod that starts without Redis admits its share by the number of pods in its settings, never judges the day, and is exact once Redis answers', async () => {
  const rates = { rpm: 40, rpd: 12 }
  await server.kill()
  const time = timeOfTests()
  const pod = prepareInTest(server, { time, pods: 4 })
  const admit = () => pod.stores.limits.admit('key', rates, 'history')
  expect(await admittedBy(pod, rates, 10)).toBe(10)
  const resetMinute = (time.utcMs() + minuteMs) / 1_000
  const state = { limitMinute: 40, remainingMinute: 0, resetMinute, limitDay: 12, remainingDay: 12 }
  expect(await admit()).toEqual({
    outcome: 'refused',
    exceeded: 'minute',
    share: 10,
    retryAfterSeconds: 2,
    state,
  })
  await time.advance(minuteMs - 1_000)
  expect(await admit()).toMatchObject({ outcome: 'refused', retryAfterSeconds: 1 })
  await time.advance(1_000)
  // More than the limit of the day.
  expect(await admittedBy(pod, rates, 10)).toBe(10)
  await server.start()
  await isBack(pod)
  await vi.waitFor(
    async () =>
      expect((await pod.stores.limits.usage('key', today, today)).get(today)).toMatchObject({
        requests: 20,
        rate_limited: 2,
      }),
    longTimeout,
  )
  expect(await admit()).toMatchObject({ outcome: 'refused', exceeded: 'day', state: { remainingDay: 0 } })
})
