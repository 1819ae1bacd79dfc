import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { OutageMemory, pendingMax } from './outage-memory.ts'

const rates = { rpm: 10, rpd: 100 }
const noonMs = utcMs(Date.UTC(2026, 0, 5, 12))
const minuteMs = 60_000

test('counted usage is pending once, in the windows to which it belongs', () => {
  const memory = new OutageMemory()
  memory.count('a', noonMs, ['requests', 'history'], 1)
  memory.count('a', utcMs(noonMs + minuteMs), ['requests', 'history'], 1)
  memory.count('a', utcMs(noonMs + minuteMs), ['rate_limited'])
  const day = Math.floor(noonMs / 86_400_000)
  const minute = noonMs / minuteMs + 1
  const counters = { requests: 2, history: 2, rate_limited: 1 }
  expect(memory.takePending()).toEqual([
    { keyId: 'a', day, minute, admittedInMinute: 1, admitted: 2, counters },
  ])
  expect(memory.hasPending).toBe(false)
})

test('usage that did not reach Redis is added to newer usage, and none is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ at: fc.nat(3), back: fc.boolean() }), { maxLength: 20 }), (steps) => {
      const memory = new OutageMemory()
      for (const { at, back } of steps) {
        memory.count('a', utcMs(noonMs + at * minuteMs), ['requests'], 1)
        if (back) for (const each of memory.takePending()) memory.putBack(each)
        const taken = memory.takePending()
        memory.count('a', utcMs(noonMs + at * minuteMs), ['usage'])
        for (const each of taken) memory.putBack(each)
      }
      const [left] = memory.takePending()
      expect(left?.counters.requests ?? 0).toBe(steps.length)
      expect(left?.counters.usage ?? 0).toBe(steps.length)
      expect(left?.admitted ?? 0).toBe(steps.length)
    }),
  )
})

test('above its bound of keys it drops the least recently used key', () => {
  const memory = new OutageMemory(2)
  for (const key of ['a', 'b', 'a', 'c']) memory.decide('admit', key, rates, noonMs, 1)
  expect(memory.keys).toBe(2)
  const used = (key: string) => {
    const { state } = memory.decide('observe', key, rates, noonMs, 1)
    return rates.rpm - state.remainingMinute
  }
  expect(['a', 'c'].map(used)).toEqual([2, 1])
  expect(used('b')).toBe(0)
})

test('counters above the bound are dropped and counted', () => {
  const memory = new OutageMemory()
  for (let i = 0; i < pendingMax + 3; i++) memory.count(`key ${i}`, noonMs, ['requests'], 1)
  expect(memory.dropped).toBe(3)
  expect(memory.takePending()).toHaveLength(pendingMax)
})
