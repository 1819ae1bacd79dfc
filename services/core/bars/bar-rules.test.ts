import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryBar } from '../../../test/support/samples/arbitrary-bars.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { type Resolution, resolutions } from '../feeds/resolution.ts'
import type { Bar } from './bar.ts'
import { barFault, type RefusalReason, refusalReasons } from './bar-rules.ts'

const good: Bar = { time: feedSeconds(1_704_103_200), open: 2, high: 4, low: 1, close: 3, volume: 7 }

test('a well-formed bar has no fault on any grid', () => {
  for (const r of resolutions)
    expect(barFault(good, r, { now: good.time, retention: good.time })).toBeUndefined()
  fc.assert(
    fc.property(arbitraryBar({ stepSeconds: 1_800 }), fc.constantFrom(...resolutions), (bar, r) => {
      expect(barFault(bar, r)).toBeUndefined()
    }),
  )
})

test.each<[string, Partial<Record<keyof Bar, number>>, RefusalReason, string]>([
  ['a time between minutes', { time: 1_704_103_201 }, 'OFF_GRID', 'time: got 1704103201'],
  ['a fraction of a second', { time: 1_704_103_200.5 }, 'OFF_GRID', 'multiple of 60'],
  ['no number as time', { time: Number.NaN }, 'OFF_GRID', 'got NaN'],
  ['a time before 1970', { time: -60 }, 'BEFORE_1970', 'got -60'],
  ['the year 2256', { time: 9_025_257_600 }, 'IN_THE_FUTURE', 'wanted at most'],
  ['a low above the open', { low: 2.5 }, 'OHLC_ORDER', 'low: got 2.5, wanted at most open 2 and close 3'],
  ['a low above the close', { open: 3.5, close: 1, low: 1.5 }, 'OHLC_ORDER', 'low'],
  ['a high below the open', { open: 5 }, 'OHLC_ORDER', 'high: got 4'],
  ['a high below the close', { close: 5 }, 'OHLC_ORDER', 'high: got 4, wanted at least open 2 and close 5'],
  ['an infinite price', { high: Number.POSITIVE_INFINITY }, 'PRICE', 'high'],
  [
    'a price below all numbers',
    { low: Number.NEGATIVE_INFINITY },
    'PRICE',
    'low: got -Infinity, wanted a finite number',
  ],
  ['no number as price', { close: Number.NaN }, 'PRICE', 'close: got NaN'],
  ['a negative volume', { volume: -1 }, 'VOLUME', 'volume: got -1, wanted a whole number, 0 or more'],
  ['half a tick', { volume: 1.5 }, 'VOLUME', 'volume: got 1.5'],
])('%s is rejected: the error names the field, the value and what is wanted', (_, change, reason, words) => {
  const fault = barFault({ ...good, ...change } as Bar, '1')
  expect(fault?.reason).toBe(reason)
  expect(fault?.message).toContain(words)
})

test.each<[Resolution, number, boolean]>([
  ['1', 60, true],
  ['5', 240, false],
  ['10', 300, false],
  ['15', 600, false],
  ['30', 900, false],
  ['60', 22 * 60, true],
  ['240', 60, true],
  ['1D', 22 * 3_600, true],
  ['1W', 90, false],
  ['1M', 60, true],
])(
  'bars up to 30 minutes begin at a multiple of their duration, longer ones at a whole minute: %s at %i s',
  (r, time, isFine) => {
    expect(barFault({ ...good, time: feedSeconds(time) }, r)?.reason).toBe(isFine ? undefined : 'OFF_GRID')
  },
)

test('a bar more than five seconds in the future is rejected', () => {
  const fault = (now: number) => barFault(good, '1', { now: feedSeconds(now) })?.reason
  expect(fault(good.time)).toBeUndefined()
  expect(fault(good.time - 5)).toBeUndefined()
  expect(fault(good.time - 6)).toBe('IN_THE_FUTURE')
})

test('a bar older than the retention is rejected', () => {
  expect(barFault(good, '1', { retention: good.time })).toBeUndefined()
  expect(barFault(good, '1', { retention: feedSeconds(good.time + 1) })?.reason).toBe('PAST_RETENTION')
})

test('a bar before the earliest date of the manifest is rejected, and without one none is for its age', () => {
  expect(barFault(good, '1', { earliest: good.time })).toBeUndefined()
  expect(barFault(good, '1', { earliest: feedSeconds(good.time + 60) })?.reason).toBe('BEFORE_EARLIEST')
  expect(barFault({ ...good, time: feedSeconds(0) }, '1')).toBeUndefined()
})

test('the rules never throw, whatever the numbers, and every store can store a bar that passes', () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0, -0, 60, 1e300, 1_704_103_200))
  const bar = fc.record({
    time: number,
    open: number,
    high: number,
    low: number,
    close: number,
    volume: number,
  })
  fc.assert(
    fc.property(bar, fc.constantFrom(...resolutions), (any, r) => {
      const fault = barFault(any as Bar, r)
      if (fault !== undefined) expect(refusalReasons).toContain(fault.reason)
      else expect([any.time, any.volume].every((n) => Number.isSafeInteger(n) && n >= 0)).toBe(true)
    }),
  )
})

test('the reasons are those of collector.proto, in its order', () => {
  const proto = readFileSync(new URL('../../../proto/fxd/v1/collector.proto', import.meta.url), 'utf8')
  const names = [...proto.matchAll(/^ {2}REFUSAL_REASON_(\w+) = (\d+);/gm)]
  expect(names.map((match) => match[1]).slice(1)).toEqual([...refusalReasons])
  expect(names.map((match) => Number(match[2]))).toEqual(names.map((_, i) => i))
})
