import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { type Open, openedOnce } from './opened.ts'
import {
  always,
  anyBar,
  anyLane,
  BarModel,
  batchOf,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  startWrite,
} from './sample-bars.ts'

/** `write` keeps the greatest revision of each bar, for any order of writes. */
export function describeWriting(open: Open<'bars'>): void {
  const opened = openedOnce(open)
  const store = () => opened().stores.bars

  test('the greatest revision of a bar is stored, for any order of writes, batches and lanes', async () => {
    const anyWrite = fc.record({
      lane: anyLane,
      parts: fc.array(fc.tuple(fc.nat(2), fc.array(anyBar, { maxLength: 30 }))),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyWrite, { maxLength: 8 }), async (writes) => {
        const series = [freshSeries(), freshSeries(), freshSeries('5')]
        const models = series.map(() => new BarModel())
        await Promise.all(
          writes.map(async ({ lane, parts }) => {
            const batch = parts.map(([i, bars]) => {
              const list = bars.map(({ minute, revision }) => minuteBar(minute, revision))
              models[i]?.write(list)
              return batchOf(series[i]!, list)
            })
            await store().write(batch, lane)
          }),
        )
        for (const [i, each] of series.entries())
          expect(await readList(store(), each)).toEqual(models[i]?.read())
      }),
    )
  })

  test('a write with an equal or smaller revision changes nothing', async () => {
    const series = freshSeries()
    const first = { ...minuteBar(0, 5), close: 1.11 }
    await store().write([batchOf(series, [first])], 'live')
    await store().write([batchOf(series, [{ ...first, close: 2.22 }])], 'live')
    await store().write([batchOf(series, [{ ...first, close: 3.33, revision: 4 }])], 'backfill')
    expect(await readList(store(), series)).toEqual([first])
    await store().write([batchOf(series, [{ ...first, close: 4.44, revision: 6 }])], 'backfill')
    expect(await readList(store(), series)).toEqual([{ ...first, close: 4.44, revision: 6 }])
  })

  test('a repeated write changes nothing', async () => {
    const series = freshSeries()
    for (let time = 0; time < 3; time++)
      await store().write([batchOf(series, minuteBars(0, 5_000))], 'backfill')
    expect(await readList(store(), series)).toEqual(minuteBars(0, 5_000))
  })

  test('two concurrent writers of one series lose no bars', async () => {
    const series = freshSeries()
    const caller = async (revision: number) => {
      for (let minute = 0; minute < 3_000; minute += 500)
        await store().write([batchOf(series, minuteBars(minute, minute + 500, revision))], 'backfill')
    }
    await Promise.all([caller(2), caller(1)])
    expect(await readList(store(), series)).toEqual(minuteBars(0, 3_000, 2))
  })

  test('a write neither transfers nor changes the columns of its caller', async () => {
    const batch = batchOf(freshSeries(), minuteBars(0, 3_000))
    const before = structuredClone(batch)
    await store().write([batch, batch], 'live')
    expect(batch).toEqual(before)
  })

  test('an empty write succeeds and stores nothing', async () => {
    const series = freshSeries()
    await store().write([], 'live')
    await store().write([batchOf(series, [])], 'backfill')
    expect(await readList(store(), series)).toEqual([])
  })

  test('one write stores a minute of 1,622 symbols', async () => {
    const minute = Array.from({ length: 1_622 }, () => batchOf(freshSeries(), [minuteBar(7)]))
    await store().write(minute, 'live')
    for (const { series } of [minute[0]!, minute[800]!, minute[1_621]!])
      expect(await readList(store(), series)).toEqual([minuteBar(7)])
  })

  test('live writes overtake queued backfill writes, and a backlog above every bound is stored completely', async () => {
    const series = freshSeries()
    const writes = 50
    let backfilled = 0
    const backfill = Array.from({ length: writes }, async (_, i) => {
      const batch = batchOf(series, minuteBars(i * 5_000, (i + 1) * 5_000))
      const { committed, whole } = startWrite(store(), batch, 'backfill')
      await committed
      backfilled += 1
      await whole
    })
    const live = freshSeries()
    const { committed, whole } = startWrite(store(), batchOf(live, [minuteBar(1)]), 'live')
    await committed
    expect(backfilled).toBeLessThan(writes / 2)
    await Promise.all([whole, ...backfill])
    expect(await readList(store(), live)).toEqual([minuteBar(1)])
    expect((await store().read({ series, ...always })).time).toHaveLength(writes * 5_000)
  })

  test('bytes of rows count for their feed until they are stored; a write whose signal aborted stores nothing', async () => {
    const [series, dropped] = [freshSeries(), freshSeries()]
    await store().write([batchOf(series, minuteBars(0, 1))], 'live')
    const reason = new Error('hidden')
    const aborted = { signal: AbortSignal.abort(reason) }
    await expect(store().write([batchOf(dropped, minuteBars(0, 1))], 'live', aborted)).rejects.toBe(reason)
    expect(await readList(store(), dropped)).toEqual([])
    let most = 0
    const write = startWrite(store(), batchOf(series, minuteBars(0, 20_000)), 'backfill')
    for (
      let isStored = false;
      !isStored;
      isStored = await Promise.race([write.whole.then(() => true), turn()])
    )
      most = Math.max(most, store().waitingBytes().get(series.feed) ?? 0)
    expect(most).toBeGreaterThan(20_000 * 50)
    expect(store().waitingBytes().get(series.feed)).toBeUndefined()
  })

  test('bars with a fractional or missing time or revision are refused by name; concurrent writes succeed', async () => {
    const series = freshSeries()
    const other = freshSeries()
    for (const broken of [{ time: feedSeconds(Number.NaN) }, { revision: 1.5 }]) {
      const refused = store().write([batchOf(series, [{ ...minuteBar(0), ...broken }])], 'live')
      const stored = store().write([batchOf(other, [minuteBar(0)])], 'live')
      await expect(refused).rejects.toThrow(series.symbol)
      await stored
    }
    expect(await readList(store(), series)).toEqual([])
    expect(await readList(store(), other)).toEqual([minuteBar(0)])
  })
}

/** A turn of the event loop. */
const turn = (): Promise<false> => new Promise((resolve) => setImmediate(resolve, false))
