import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { barsOf, toList } from '../bars/bar.ts'
import { type FeedSeconds, feedSeconds, type UtcSeconds, utcMs } from '../clocks/feed-clock.ts'
import { resolutions } from '../feeds/resolution.ts'
import { inTrueTime, trueTime } from './true-time.ts'

const at = (iso: string): number => Date.parse(`${iso}Z`) / 1_000
const feed = (iso: string): FeedSeconds => feedSeconds(at(iso))
const utc = (iso: string): UtcSeconds => at(iso) as UtcSeconds
const reading = (offsetSeconds: number, since = '2020-01-01T00:00') => ({
  offsetSeconds,
  since: utcMs(at(since) * 1_000),
})
const hour = 3_600
const day = 86_400
const behind = 4_018 * day

/** A broker at UTC+2, and at UTC+3 from the last Sunday of March to that of October; a measurement takes 4 minutes. */
const summerTime = [
  reading(-2 * hour),
  reading(-3 * hour, '2026-03-29T01:04'),
  reading(-2 * hour, '2026-10-25T01:04'),
]

describe('intraday times', () => {
  test.each([
    ['of a UTC clock stay', [reading(0)], '2026-05-04T12:00', '2026-05-04T12:00'],
    ['of UTC+3 move back by three hours', [reading(-3 * hour)], '2026-05-04T12:00', '2026-05-04T09:00'],
    ['of a clock 4018 days behind move ahead', [reading(behind)], '2015-05-04T12:00', '2026-05-04T12:00'],
    ['before a switch have the offset before', summerTime, '2026-03-29T02:59', '2026-03-29T00:59'],
    ['after it the offset after', summerTime, '2026-03-29T04:00', '2026-03-29T01:00'],
    ['before a switch back have the offset before', summerTime, '2026-10-25T02:59', '2026-10-24T23:59'],
    ['of the repeated hour have the later offset', summerTime, '2026-10-25T03:00', '2026-10-25T01:00'],
    ['before the first reading have its offset', summerTime, '2019-07-01T12:00', '2019-07-01T10:00'],
    [
      'before a correction of the manifest have the corrected offset',
      [reading(0), reading(behind, '2026-01-01T00:00')],
      '2010-05-04T12:00',
      '2021-05-04T12:00',
    ],
  ])('%s', (_, history, time, wanted) => {
    const { toUtc } = trueTime(history, '1')
    expect(toUtc(feed(time))).toBe(utc(wanted))
  })

  test('an hour that the clock never showed has no time', () => {
    expect(trueTime(summerTime, '60').toUtc(feed('2026-03-29T03:30'))).toBeUndefined()
  })

  test('two changes in one hour count as the last of them', () => {
    const history = [
      reading(-2 * hour),
      reading(-hour, '2026-05-01T10:10'),
      reading(-2 * hour, '2026-05-01T10:20'),
    ]
    const { toUtc } = trueTime(history, '1')
    for (const time of ['2026-05-01T11:30', '2026-05-01T12:30', '2026-05-01T13:30'])
      expect(toUtc(feed(time))).toBe(at(time) - 2 * hour)
  })
})

describe('dates', () => {
  test.each(['1D', '1W', '1M'] as const)('of %s stay where the offset is below a day', (resolution) => {
    for (const offset of [0, -3 * hour, 14 * hour, -13 * hour])
      expect(trueTime([reading(offset)], resolution).toUtc(feed('2026-05-01T00:00'))).toBe(
        utc('2026-05-01T00:00'),
      )
  })

  test.each(['1D', '1W'] as const)('of %s move by whole days of a longer offset', (resolution) => {
    for (const offset of [behind, behind - 3 * hour, behind + 2 * hour])
      expect(trueTime([reading(offset)], resolution).toUtc(feed('2015-05-03T00:00'))).toBe(
        utc('2026-05-03T00:00'),
      )
  })

  test('months of a clock 4018 days behind keep their order, one for each', () => {
    const { toUtc } = trueTime([reading(behind)], '1M')
    const months = Array.from({ length: 240 }, (_, i) => feedSeconds(Date.UTC(2000, i, 1) / 1_000))
    expect(months.map(toUtc)).toEqual(months.map((_, i) => Date.UTC(2011, i, 1) / 1_000))
  })
})

const anyHistory = fc
  .array(
    fc.record({
      step: fc.constantFrom(-2, -1, -0.5, 0.5, 1, 2, 96_432),
      afterMinutes: fc.integer({ min: 1, max: 400_000 }),
    }),
    { maxLength: 6 },
  )
  .chain((steps) => fc.constantFrom(0, -3 * hour, behind).map((first) => ({ first, steps })))
  .map(({ first, steps }) => {
    const history = [reading(first)]
    for (const { step, afterMinutes } of steps) {
      const { offsetSeconds, since } = history.at(-1)!
      history.push({
        offsetSeconds: offsetSeconds + step * hour,
        since: utcMs(since + afterMinutes * 60_000),
      })
    }
    return history
  })
const anyResolution = fc.constantFrom(...resolutions)
/** Minutes of twenty years around the changes. */
const anyMinutes = fc.uniqueArray(fc.integer({ min: 15_000_000, max: 30_000_000 }), { maxLength: 60 })

test('times ascend and are unique, and the bars are the same ones', () => {
  fc.assert(
    fc.property(anyHistory, anyResolution, anyMinutes, (history, resolution, minutes) => {
      const bars = barsOf(
        minutes
          .toSorted((a, b) => a - b)
          .map((minute) => ({
            time: feedSeconds(minute * 60),
            open: minute,
            high: 0,
            low: 0,
            close: 0,
            volume: 0,
          })),
      )
      const time = trueTime(history, resolution)
      const shown = toList(inTrueTime(bars, time))
      shown.reduce((before, bar) => {
        expect(bar.time).toBeGreaterThan(before)
        return bar.time
      }, -Infinity)
      for (const bar of shown) expect(time.toUtc(feedSeconds(bar.open * 60))).toBe(bar.time)
    }),
  )
})

test('the end of a request has exactly the bars up to it, by the same times, also near a change of the clock', () => {
  const near = fc.integer({ min: -300, max: 300 })
  const moment = fc.record({ change: fc.nat(6), minutes: near })
  fc.assert(
    fc.property(
      anyHistory,
      anyResolution,
      fc.array(moment, { maxLength: 60 }),
      moment,
      (history, resolution, times, end) => {
        const { toUtc, latestUntil } = trueTime(history, resolution)
        const secondsOf = ({ change, minutes }: typeof end): number =>
          Math.floor((history[change % history.length]?.since ?? 0) / 60_000 + minutes) * 60
        const latest = latestUntil(secondsOf(end) as UtcSeconds)
        for (const each of times) {
          const { offsetSeconds = 0 } = history[each.change % history.length] ?? {}
          const minute = feedSeconds(secondsOf(each) - offsetSeconds)
          const time = toUtc(minute)
          if (time !== undefined) expect(minute <= latest).toBe(time <= secondsOf(end))
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('real minutes over a switch keep their distance in true time, and only those of the repeated hour move', () => {
  const text = readFileSync(new URL('../../../test/data/BTCUSD_M1_201311.csv', import.meta.url), 'utf8')
  const times = [...text.matchAll(/^(\d{4})\.(\d\d)\.(\d\d)\t(\d\d):(\d\d):/gm)].map(([, y, mo, d, h, mi]) =>
    feed(`${y}-${mo}-${d}T${h}:${mi}`),
  )
  expect(times.length).toBeGreaterThan(9_000)
  const back = [reading(-3 * hour, '2013-01-01T00:00'), reading(-2 * hour, '2013-11-28T01:07')]
  const shown = times.map(trueTime(back, '1').toUtc)
  expect(shown).toEqual(times.map((time) => time - (time < at('2013-11-28T03:00') ? 3 : 2) * hour))
})
