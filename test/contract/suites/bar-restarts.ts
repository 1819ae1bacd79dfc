import { expect, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import type { Open } from './opened.ts'
import {
  always,
  batchOf,
  freshFeed,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
} from './sample-bars.ts'

/** Bars survive a closed and a killed store; calls on a closed store fail. */
export function describeRestarts(open: Open<'bars'>): void {
  test.for(['closed', 'killed'] as const)(
    'acknowledged writes and purges survive when the store is %s',
    async (how) => {
      const series = freshSeries()
      const feed = freshFeed()
      const before = await open()
      await before.stores.bars.write([batchOf(series, minuteBars(0, 5_000))], 'backfill')
      await before.stores.bars.write([batchOf(series, minuteBars(4_990, 5_010, 2))], 'live')
      await before.stores.bars.write([batchOf(seriesOf('A', '1', feed), minuteBars(0, 10_000))], 'backfill')
      await before.stores.bars.purge(feed)
      const after = await before.reopen(how)
      expect(await readList(after.stores.bars, series)).toEqual(
        minuteBars(0, 4_990).concat(minuteBars(4_990, 5_010, 2)),
      )
      expect(await readList(after.stores.bars, seriesOf('A', '1', feed))).toEqual([])
      await after.stores.bars.write([batchOf(series, [minuteBar(0, 1), minuteBar(1, 3)])], 'live')
      expect(await readList(after.stores.bars, series, { take: { count: 2, end: 'oldest' } })).toEqual([
        minuteBar(0, 1),
        minuteBar(1, 3),
      ])
      await after.close()
    },
  )

  test('a write in progress at the close of the store ends as stored or as unavailable', async () => {
    const before = await open()
    const series = freshSeries()
    const writing = before.stores.bars.write([batchOf(series, minuteBars(0, 5_000))], 'backfill')
    const ended = writing.then(
      () => 'stored',
      (cause: unknown) => cause,
    )
    const after = await before.reopen('closed')
    const outcome = await ended
    if (outcome !== 'stored') expect(outcome).toBeInstanceOf(Unavailable)
    else expect(await readList(after.stores.bars, series)).toHaveLength(5_000)
    await after.close()
  })

  test('every call on a closed store fails as unavailable, never with an empty answer', async () => {
    const { stores, close } = await open()
    await close()
    const series = freshSeries()
    for (const call of [
      () => stores.bars.read({ series, ...always }),
      () => stores.bars.write([batchOf(series, [minuteBar(0)])], 'live'),
      () => stores.bars.lastTimes(series.feed),
      () => stores.bars.bounds(series, [always]),
      () => stores.bars.purge(series.feed),
      () => stores.bars.ping(),
    ])
      await expect(call()).rejects.toBeInstanceOf(Unavailable)
  })
}
