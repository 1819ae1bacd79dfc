import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { columns, type RevisedBar } from '../../../services/core/bars/bar.ts'
import { newestByOpen } from '../../../services/core/bars/newest-bar.ts'
import { seriesId } from '../../../services/core/bars/series.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import type { BarQuery } from '../../../services/ports/bars.ts'
import { lastMinute, weekendBars } from '../../support/samples/weekend-bars.ts'
import { type Open, openedOnce } from './opened.ts'
import {
  always,
  anyBar,
  anyLane,
  anyQuery,
  BarModel,
  batchOf,
  freshFeed,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  seriesOf,
  start,
} from './sample-bars.ts'

/** Contract of all stores of bars; see services/ports/bars.ts. */
export function describeBarStore(name: string, open: Open<'bars'>): void {
  describe(`bars in ${name}`, () => {
    describeReading(open)
    describeWriting(open)
    describeAnswersAboutSeries(open)
    describeRestarts(open)
  })
}

function describeReading(open: Open<'bars'>): void {
  const opened = openedOnce(open)
  const store = () => opened().stores.bars

  test('a read returns every number exactly as it was written', async () => {
    const series = freshSeries()
    const odd: RevisedBar[] = [
      { ...minuteBar(0), open: 0.1 + 0.2, high: Number.MAX_VALUE, low: Number.MIN_VALUE, close: 1 / 3 },
      { ...minuteBar(1), volume: 2 ** 40 + 1, revision: 1_790_000_000_123 },
      { ...minuteBar(2), open: 1, high: 1, low: 1, close: 1, volume: 0, revision: 0 },
    ]
    await store().write([batchOf(series, odd)], 'live')
    expect(await readList(store(), series)).toEqual(odd)
  })

  test('a range includes both ends, ascends, has each time once, and a countback cuts it at the requested end', async () => {
    const series = freshSeries()
    const model = new BarModel()
    const stored = minuteBars(0, 20).concat(minuteBars(25, 40))
    model.write(stored)
    await store().write([batchOf(series, stored)], 'backfill')
    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        const { take, ...range } = query
        const asked = take === undefined ? range : { ...range, take }
        expect(await readList(store(), series, asked)).toEqual(model.read(asked))
      }),
    )
  })

  test('a range of 40,000 bars is complete, and a countback of it is right from either end', async () => {
    const series = freshSeries()
    const stored = minuteBars(0, 40_000)
    await store().write([batchOf(series, stored)], 'backfill')
    const times = async (query: Partial<BarQuery>) =>
      [...(await store().read({ series, ...always, ...query })).time].map((time) => (time - start) / 60)
    const minutes = Array.from(stored, (_, i) => i)
    expect(await times({})).toEqual(minutes)
    for (const count of [16_384, 16_385, 39_999, 50_000]) {
      expect(await times({ take: { count, end: 'oldest' } })).toEqual(minutes.slice(0, count))
      expect(await times({ take: { count, end: 'newest' } })).toEqual(minutes.slice(-count))
    }
  })

  test('a read returns all bars that were written before it began', async () => {
    const series = freshSeries()
    for (let minute = 0; minute < 50; minute++) {
      await store().write([batchOf(series, [minuteBar(minute)])], minute % 2 ? 'live' : 'backfill')
      expect(await readList(store(), series)).toHaveLength(minute + 1)
    }
  })

  test('a read of a series without bars is empty, not an error', async () => {
    expect(await readList(store(), freshSeries())).toEqual([])
    expect(await readList(store(), freshSeries('1M'), { take: { count: 10_000, end: 'newest' } })).toEqual([])
  })

  test('a reader may change and transfer the columns of its answer without an effect on later reads', async () => {
    const series = freshSeries()
    await store().write([batchOf(series, minuteBars(0, 10))], 'live')
    const answer = await store().read({ series, ...always })
    for (const column of columns) {
      answer[column].fill(7)
      structuredClone(answer[column], { transfer: [answer[column].buffer as ArrayBuffer] })
      expect(answer[column]).toHaveLength(0)
    }
    expect(await readList(store(), series)).toEqual(minuteBars(0, 10))
  })

  test('real exports are read exactly as they were written', async () => {
    for (const [file, resolution] of [
      ['BTCUSD_M1_201311.csv', '1'],
      ['EURUSD_H1_2017.csv', '60'],
      ['GOOGL_D1.csv', '1D'],
    ] as const) {
      const series = freshSeries(resolution)
      const exported = exportedBars(file)
      expect(exported.length).toBeGreaterThan(2_000)
      await store().write([batchOf(series, exported)], 'backfill')
      expect(await readList(store(), series)).toEqual(exported)
    }
  })
}

function describeWriting(open: Open<'bars'>): void {
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
      await store().write([batchOf(series, minuteBars(i * 5_000, (i + 1) * 5_000))], 'backfill')
      backfilled += 1
    })
    const live = freshSeries()
    await store().write([batchOf(live, [minuteBar(1)])], 'live')
    expect(backfilled).toBeLessThan(writes / 2)
    expect(await readList(store(), live)).toEqual([minuteBar(1)])
    await Promise.all(backfill)
    expect((await store().read({ series, ...always })).time).toHaveLength(writes * 5_000)
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

function describeAnswersAboutSeries(open: Open<'bars'>): void {
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

function describeRestarts(open: Open<'bars'>): void {
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

/** The bars of a file in the export format of MT5; files of daily bars have no time column. */
function exportedBars(file: string): RevisedBar[] {
  const text = readFileSync(new URL(`../../data/${file}`, import.meta.url), 'utf8')
  const [head = '', ...lines] = text.trimEnd().split(/\r?\n/)
  const names = head.split('\t')
  return lines.map((line, i) => {
    const cell = (name: string) => line.split('\t')[names.indexOf(`<${name}>`)] ?? ''
    const time = Date.parse(`${cell('DATE').replaceAll('.', '-')}T${cell('TIME') || '00:00:00'}Z`) / 1_000
    const [open, high, low, close, volume] = ['OPEN', 'HIGH', 'LOW', 'CLOSE', 'TICKVOL'].map((name) =>
      Number(cell(name)),
    )
    return { time: feedSeconds(time), open, high, low, close, volume, revision: i + 1 } as RevisedBar
  })
}
