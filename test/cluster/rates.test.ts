import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { secondsOfDayLeft } from '../acceptance/client/day.ts'
import { ask, rate } from '../acceptance/client/http.ts'
import { updateKey } from '../acceptance/client/keys.ts'
import { effort } from '../support/effort.ts'
import { basesOf, issueForAllPods } from './pods.ts'

const limit = 100
const minuteMs = 60_000
/** Rounds of the test; each waits for the end of a minute. */
const rounds = Math.ceil(effort / 4)
/** Time between two bursts; the bursts lie on both sides of the end of a minute. */
const burstMs = 400

interface Window {
  admitted: number
  refused: number
}

/** Sends `count` requests to all pods at once; adds what each window admitted and refused, by the end of the window. */
async function sendBurst(key: string, count: number, windows: Map<number, Window>): Promise<void> {
  const pods = basesOf('rest')
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      ask('/v1/usage?days=1', { key, base: pods[i % pods.length] as string }),
    ),
  )
  for (const answer of answers) {
    const end = rate(answer, 'X-RateLimit-Reset-Minute')
    const window = windows.get(end) ?? { admitted: 0, refused: 0 }
    windows.set(end, window)
    expect([200, 429]).toContain(answer.status)
    if (answer.status === 200) window.admitted += 1
    else window.refused += 1
  }
}

describe.each(Array.from({ length: rounds }, (_, round) => round))('round %i', () => {
  test('over all pods and across the end of a minute, each window admits exactly its limit, or all requests when they are fewer', async () => {
    const loads = [0.9, 1, 2]
    const keys = await Promise.all(loads.map(() => issueForAllPods({ rpm: limit })))
    const counted = keys.map(() => new Map<number, Window>())
    // Half of the load is sent before the end of the minute. If that is too close, wait for the next one.
    const untilMinuteEndMs = minuteMs - (Date.now() % minuteMs)
    await pause((untilMinuteEndMs - 4 * burstMs + minuteMs) % minuteMs)
    for (let burst = 0; burst < 8; burst++) {
      await Promise.all([
        pause(burstMs),
        ...keys.map(({ key }, i) =>
          sendBurst(key, Math.round(((loads[i] as number) * limit) / 4), counted[i]!),
        ),
      ])
    }
    counted.forEach((windows, i) => {
      const load = loads[i] as number
      expect(windows.size, `load ${load} spans two windows`).toBeGreaterThan(1)
      for (const [end, { admitted, refused }] of windows)
        expect(admitted, `load ${load}, window to ${end}`).toBe(Math.min(limit, admitted + refused))
    })
    const offered = (windows: Map<number, Window>) =>
      [...windows.values()].reduce((sum, { admitted, refused }) => sum + admitted + refused, 0)
    expect(offered(counted[2] as Map<number, Window>)).toBe(8 * Math.round(limit / 2))
  }, 180_000)
})

test('every pod reports the usage that the client counted over all pods', async () => {
  await secondsOfDayLeft(90)
  const { key, id } = await issueForAllPods({ rpm: 40 })
  const pods = basesOf('rest')
  const paths = {
    symbols: '/v1/symbols?limit=1',
    status: '/v1/status',
    history: '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1',
  }
  const names = Object.keys(paths) as (keyof typeof paths)[]
  const counted = { requests: 0, rate_limited: 0, symbols: 0, status: 0, history: 0, usage: 0 }
  const count = async (name: keyof typeof paths | 'usage', base: string) => {
    const answer = await ask<Usage>(name === 'usage' ? '/v1/usage?days=1' : paths[name], { key, base })
    if (answer.status === 429) counted.rate_limited += 1
    else {
      counted.requests += 1
      counted[name] += 1
    }
    return answer
  }
  // More than two windows admit, in case the minute ends in between.
  await Promise.all(
    Array.from({ length: 90 }, (_, i) =>
      count(names[i % 3] as keyof typeof paths, pods[i % pods.length] as string),
    ),
  )
  expect(counted.rate_limited).toBeGreaterThanOrEqual(10)
  await updateKey(id, { rpm: 10_000 })
  for (const base of pods) {
    let answer = await count('usage', base)
    while (answer.status === 429) {
      await pause(200)
      answer = await count('usage', base)
    }
    expect(answer.body.today).toMatchObject(counted)
  }
})

interface Usage {
  readonly today: Readonly<Record<string, number>>
}
