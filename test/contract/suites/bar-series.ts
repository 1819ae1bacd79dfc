import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newestByOpen } from '../../../services/core/bars/newest-bar.ts'
import { seriesId } from '../../../services/core/bars/series.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { lastMinute, weekendBars } from '../../support/samples/weekend-bars.ts'
import { type Open, openedOnce } from './opened.ts'
import {
  always,
  anyQuery,
  batchOf,
  freshFeed,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
} from './sample-bars.ts'

/** Answers about whole series and feeds: newest bars, bounds, purges and names. */
export function describeAnswersAboutSeries(open: Open<'bars'>): void {
  const opened = openedOnce(open)
  const store = () => opened().stores.bars

  test('lastTimes returns the newest bar of each series of the feed, and of no other feed', async () => {
    const feed = freshFeed()
    const [a, b, elsewhere] = [
      seriesOf('A', '1', feed),
      seriesOf('A', '5', feed),
      seriesOf('A', '1', freshFeed()),
    ]
    expect(await store().lastTimes(feed)).toEqual(new Map())
    await store().write([batchOf(a, [minuteBar(9), minuteBar(3)]), batchOf(b, [minuteBar(5)])], 'live')
    await store().write([batchOf(elsewhere, [minuteBar(30)]), batchOf(a, [minuteBar(1)])], 'backfill')
    expect(await store().lastTimes(feed)).toEqual(
      new Map([
        [seriesId(a), minuteBar(9).time],
        [seriesId(b), minuteBar(5).time],
      ]),
    )
  })

  test('on a weekend the newest bar of lastTimes is the last minute, not the weekly bar', async () => {
    const feed = freshFeed()
    const batch = weekendBars.map(([resolution, bars]) => ({ series: seriesOf('A', resolution, feed), bars }))
    await store().write(batch, 'backfill')
    expect(newestByOpen(await store().lastTimes(feed))).toEqual({ time: lastMinute, resolution: '1' })
  })

  test('bounds returns the first and last bar inside each half-open span', async () => {
    const series = freshSeries()
    const stored = minuteBars(0, 20).concat(minuteBars(25, 40))
    await store().write([batchOf(series, stored)], 'backfill')
    const anySpan = anyQuery.map(({ from, to }) => ({ from, to }))
    await fc.assert(
      fc.asyncProperty(fc.array(anySpan, { maxLength: 6 }), async (spans) => {
        const wanted = spans.map(({ from, to }) => {
          const times = stored.map(({ time }) => time).filter((time) => time >= from && time < to)
          return times.length === 0 ? undefined : { first: times[0], last: times.at(-1) }
        })
        expect(await store().bounds(series, spans)).toEqual(wanted)
      }),
    )
    expect(await store().bounds(freshSeries(), [always])).toEqual([undefined])
  })

  test('a purge removes all bars of the feed and of no other feed, and the feed accepts bars afterwards', async () => {
    const [before, feed, after] = [freshFeed(), freshFeed(), freshFeed()]
    const purged = seriesOf('A', '1', feed)
    const kept = [freshSeries(), seriesOf('A', '1', before), seriesOf('A', '1', after)]
    const keptBatches = kept.map((series) => batchOf(series, minuteBars(0, 10)))
    await store().write([batchOf(purged, minuteBars(0, 9_000, 3)), ...keptBatches], 'backfill')
    await store().purge(feed)
    expect(await readList(store(), purged)).toEqual([])
    expect(await store().lastTimes(feed)).toEqual(new Map())
    expect(await store().bounds(purged, [always])).toEqual([undefined])
    await store().write([batchOf(purged, minuteBars(5, 8, 1))], 'live')
    expect(await readList(store(), purged)).toEqual(minuteBars(5, 8, 1))
    for (const series of kept) expect(await readList(store(), series)).toEqual(minuteBars(0, 10))
    await store().purge(freshFeed())
  })

  test('symbol names with special characters are stored and found', async () => {
    const names = [
      '__proto__',
      'constructor',
      "A'; DROP TABLE bar; --",
      'BRK.b_CFD.US',
      'BRK.B_CFD.US',
      'a:b:c',
      'é€😀',
      // Special characters of the line protocol.
      'a,b=c d\te\nf\\g"',
    ]
    const feed = freshFeed()
    const all = names.map((name) => seriesOf(name, '1', feed))
    await store().write(
      all.map((series, i) => batchOf(series, [minuteBar(i)])),
      'live',
    )
    for (const [i, series] of all.entries()) expect(await readList(store(), series)).toEqual([minuteBar(i)])
    const times = await store().lastTimes(feed)
    expect([...times.keys()].sort()).toEqual(names.map((name) => `1 ${compoundKey(feed, name)}`).sort())
  })

  test('ping succeeds on an available store', async () => {
    await expect(store().ping()).resolves.toBeUndefined()
  })
}
