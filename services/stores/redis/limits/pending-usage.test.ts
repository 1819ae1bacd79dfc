import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { PendingUsage, pendingMax } from './pending-usage.ts'

const noonMs = utcMs(Date.UTC(2026, 0, 5, 12))
const minuteMs = 60_000

test('counted usage is pending once, in the windows to which it belongs', () => {
  const usage = new PendingUsage()
  usage.count('a', noonMs, ['requests', 'history'], 1)
  usage.count('a', utcMs(noonMs + minuteMs), ['requests', 'history'], 1)
  usage.count('a', utcMs(noonMs + minuteMs), ['rate_limited'])
  const day = Math.floor(noonMs / 86_400_000)
  const minute = noonMs / minuteMs + 1
  const counters = { requests: 2, history: 2, rate_limited: 1 }
  expect(usage.take()).toEqual([{ keyId: 'a', day, minute, admittedInMinute: 1, admitted: 2, counters }])
  expect(usage.isEmpty).toBe(true)
})

test('usage that did not reach Redis is added to newer usage, and none is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ at: fc.nat(3), back: fc.boolean() }), { maxLength: 20 }), (steps) => {
      const usage = new PendingUsage()
      for (const { at, back } of steps) {
        usage.count('a', utcMs(noonMs + at * minuteMs), ['requests'], 1)
        if (back) for (const each of usage.take()) usage.putBack(each)
        const taken = usage.take()
        usage.count('a', utcMs(noonMs + at * minuteMs), ['usage'])
        for (const each of taken) usage.putBack(each)
      }
      const [left] = usage.take()
      expect(left?.counters.requests ?? 0).toBe(steps.length)
      expect(left?.counters.usage ?? 0).toBe(steps.length)
      expect(left?.admitted ?? 0).toBe(steps.length)
    }),
  )
})

test('counters above the bound are dropped and counted', () => {
  const usage = new PendingUsage()
  for (let i = 0; i < pendingMax + 3; i++) usage.count(`key ${i}`, noonMs, ['requests'], 1)
  expect(usage.dropped).toBe(3)
  expect(usage.take()).toHaveLength(pendingMax)
})
