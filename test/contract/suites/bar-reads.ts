import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { columns, type RevisedBar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { BarQuery } from '../../../services/ports/bars.ts'
import { type Open, openedOnce } from './opened.ts'
import {
  always,
  anyQuery,
  BarModel,
  batchOf,
  freshSeries,
  minuteBar,
  minuteBars,
  readList,
  start,
} from './sample-bars.ts'

/** `read` returns what was written, in order and complete. */
export function describeReading(open: Open<'bars'>): void {
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
