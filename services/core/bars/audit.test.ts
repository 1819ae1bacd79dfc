import fc from 'fast-check'
import { expect, test } from 'vitest'
import { daySeconds } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { type CompoundKey, compoundKey, feedKey } from '../feeds/compound-key.ts'
import type { Resolution } from '../feeds/resolution.ts'
import { auditFeed, type StoredSeries } from './audit.ts'
import type { Window } from './window.ts'

const feed = feedKey('BROKERA', 'ZERO')
const [a, b] = [compoundKey(feed, 'A'), compoundKey(feed, 'B')]
const now = feedSeconds(100 * daySeconds + 50)

const held = (symbol: CompoundKey, resolution: Resolution, ...days: number[]): StoredSeries => ({
  symbol,
  resolution,
  days: days.map((day) => ({ day, bars: 1 })),
})
/** Whole days, the last one included. */
const window = (
  symbol: CompoundKey | undefined,
  resolution: Resolution,
  first: number,
  last: number,
): Window => ({
  feed,
  symbol,
  resolution,
  from: feedSeconds(first * daySeconds),
  to: feedSeconds((last + 1) * daySeconds),
})
const audit = (
  windows: readonly Window[],
  series: readonly StoredSeries[],
  since = new Map<CompoundKey, FeedSeconds>(),
) => auditFeed({ windows, stored: series, since, now })

test('windows and bars that agree give no finding', () => {
  const windows = [window(a, '1', 10, 20), window(a, '60', 10, 20)]
  expect(audit(windows, [held(a, '1', 10, 11, 20), held(a, '60', 10, 11, 20)])).toEqual([])
})

test('a claimed day without bars of one resolution is reported when another resolution has bars on it', () => {
  const windows = [window(a, '1', 10, 20), window(a, '60', 10, 20)]
  expect(audit(windows, [held(a, '1', 10, 20), held(a, '60', 10, 12, 15, 20)])).toEqual([
    {
      kind: 'empty',
      resolution: '1',
      count: 2,
      missing: 0,
      symbols: 1,
      first: { symbol: a, day: 12 },
      last: { symbol: a, day: 15 },
    },
  ])
})

test('days without trades, days not wholly claimed and days before the first bar are not reported as empty', () => {
  const series = [held(a, '1', 10, 20), held(a, '60', 5, 10, 15, 20)]
  const windows = [window(a, '60', 5, 20), window(a, '1', 5, 14), window(a, '1', 16, 20)]
  expect(audit(windows, series)).toEqual([])
  expect(audit([...windows, window(a, '1', 15, 15)], series)).toMatchObject([{ kind: 'empty', count: 1 }])
})

test('a claimed day with fewer bars than another resolution implies is reported with the number of missing bars', () => {
  const windows = [window(a, '1', 10, 20), window(a, '5', 10, 20), window(a, '60', 10, 20)]
  const series = (resolution: Resolution, bars: number): StoredSeries => ({
    symbol: a,
    resolution,
    days: [10, 15, 20].map((day) => ({ day, bars: day === 15 ? bars : 1_000 })),
  })
  const whole = [series('1', 1_440), series('5', 288), series('60', 24)]
  expect(audit(windows, whole)).toEqual([])
  // Twenty minutes of 1,440 may have had no tick, unless a bar of five minutes covers them.
  expect(audit(windows, [series('1', 1_420), series('5', 288), series('60', 24)])).toEqual([])
  expect(audit(windows, [series('1', 200), series('5', 288), series('60', 24)])).toMatchObject([
    { kind: 'thin', resolution: '1', count: 1, missing: 88, first: { symbol: a, day: 15 } },
  ])
  expect(audit(windows, [series('1', 1_440), series('5', 100), series('60', 24)])).toMatchObject([
    { kind: 'thin', resolution: '5', count: 1, missing: 188 },
  ])
  // By the broker's session, one bar of an hour may open on the day before.
  expect(audit(windows, [series('1', 1_440), series('5', 288), series('60', 23)])).toEqual([])
  expect(audit(windows, [series('1', 1_440), series('5', 288), series('60', 20)])).toMatchObject([
    { kind: 'thin', resolution: '60', missing: 3 },
  ])
  expect(audit(windows.slice(1), [series('1', 200), series('5', 288)])).toMatchObject([{ kind: 'unclaimed' }])
})

test('daily and longer bars are no evidence of trades on a day: the broker decides to which day a bar belongs', () => {
  const windows = [window(a, '1', 1, 30), window(a, '1D', 1, 30)]
  expect(audit(windows, [held(a, '1', 1, 30), held(a, '1D', 1, 7, 30)])).toEqual([])
})

test('bars on a day that no window touches are reported, except on the last two days', () => {
  const series = [held(a, '1', 10, 11, 98, 99, 100), held(b, '1', 10)]
  expect(audit([window(a, '1', 11, 11)], series)).toEqual([
    {
      kind: 'unclaimed',
      resolution: '1',
      count: 3,
      missing: 0,
      symbols: 2,
      first: { symbol: a, day: 10 },
      last: { symbol: a, day: 98 },
    },
  ])
})

test('a feed-wide window counts for a symbol from its first listing by a live session', () => {
  const wide = [window(undefined, '1', 10, 20)]
  const series = [held(a, '1', 10, 15), held(b, '1', 10, 15)]
  expect(audit(wide, series)).toMatchObject([{ kind: 'unclaimed', count: 4 }])
  const since = new Map([
    [a, feedSeconds(0)],
    [b, feedSeconds(12 * daySeconds)],
  ])
  expect(audit(wide, series, since)).toMatchObject([
    { kind: 'unclaimed', count: 1, first: { symbol: b, day: 10 } },
  ])
})

test('the audit agrees with a check of each day against each window', () => {
  const anyWindow = fc
    .record({ from: fc.integer({ min: 0, max: 30 * daySeconds }), length: fc.nat(4 * daySeconds) })
    .map(({ from, length }) => ({
      ...window(a, '1', 0, 0),
      from: feedSeconds(from),
      to: feedSeconds(from + length),
    }))
  const anyDays = fc.uniqueArray(fc.nat(30), { maxLength: 15 }).map((days) => days.sort((x, y) => x - y))
  fc.assert(
    fc.property(fc.array(anyWindow, { maxLength: 8 }), anyDays, anyDays, (windows, minutes, hours) => {
      const isIn = (at: number): boolean => windows.some(({ from, to }) => from <= at && at < to)
      // Windows begin and end within days, so a check at these moments is complete.
      const moments = (day: number): number[] => [
        day * daySeconds,
        ...windows
          .flatMap(({ from, to }) => [from, to, to - 1])
          .filter((at) => Math.floor(at / daySeconds) === day),
      ]
      const unclaimed = minutes.filter((day) => !moments(day).some(isIn))
      const empty = hours.filter(
        (day) =>
          !minutes.includes(day) &&
          day > Math.min(...minutes) &&
          day < Math.max(...minutes) &&
          moments(day).every(isIn),
      )
      const found = audit(
        [...windows, window(a, '60', 0, 31)],
        [held(a, '1', ...minutes), held(a, '60', ...hours)],
      )
      const count = (kind: string): number =>
        found.find((each) => each.kind === kind && each.resolution === '1')?.count ?? 0
      expect([count('unclaimed'), count('empty')]).toEqual([unclaimed.length, empty.length])
    }),
  )
})
