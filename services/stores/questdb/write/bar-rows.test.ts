import { createBuffer, SenderOptions } from '@questdb/nodejs-client'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { barsOf } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import { timeMax, timeMin } from '../times.ts'
import type { TableBars } from './bar-rows.ts'
import { encodeBars } from './encode-bars.ts'
import { lines } from './rows.ts'

const feed = feedKey('BROKERA', 'ONE')
const unit = fc.oneof(
  fc.constantFrom(
    ' ',
    ',',
    '=',
    '\\',
    '"',
    "'",
    '\n',
    '\r',
    '\t',
    '\0',
    '/',
    '.',
    ':',
    'é',
    '€',
    '\u{1f600}',
    '\ud800',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const names = fc.string({ unit, minLength: 1, maxLength: 40 })
const prices = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE, 1.1),
)
const whole = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, 9, 10, 2 ** 31, 2 ** 32, Number.MIN_SAFE_INTEGER),
)
const bar = fc.record({
  time: fc
    .oneof(fc.integer({ min: timeMin, max: timeMax }), fc.constantFrom(timeMin, timeMax, -0))
    .map(feedSeconds),
  open: prices,
  high: prices,
  low: prices,
  close: prices,
  volume: whole,
  revision: whole,
})
const series = fc.record({
  table: fc.constantFrom('x_bars_brokera_one_h1', 'x_bars_brokera_one_m1_0of4', 'x_bars_brokera_one_m1_1of4'),
  name: names,
  list: fc.array(bar, { maxLength: 12 }),
})

type Sample = typeof series extends fc.Arbitrary<infer S> ? S : never
const usualTable = 'x_bars_brokera_one_h1'
const usual = { time: feedSeconds(60), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }

const tableBars = ({ table, name, list }: Sample): TableBars => ({
  table,
  series: { feed, symbol: compoundKey(feed, name), resolution: '1' },
  bars: barsOf(list),
})

const numbers = (): (() => number) => {
  let last = 1_790_000_000_000_000
  return () => last++
}

const options = await SenderOptions.fromConfig('http::addr=questdb:9000;auto_flush=off;protocol_version=2')

/** The rows of each table as the library encodes them. */
function libraryRows(batch: readonly Sample[]): { table: string; rows: (string | undefined)[] }[] {
  const nextTaken = numbers()
  const tables = [...new Set(batch.filter(({ list }) => list.length > 0).map(({ table }) => table))].sort()
  return tables.map((table) => {
    const buffer = createBuffer(options)
    const rows = batch
      .filter((each) => each.table === table)
      .flatMap(({ name, list }) => list.map((row) => ({ name, ...row })))
      .map(({ name, time, open, high, low, close, volume, revision }) => {
        buffer
          .table(table)
          .symbol('sym', name)
          .intColumn('rev', revision)
          .intColumn('taken', nextTaken())
          .floatColumn('o', open)
          .floatColumn('h', high)
          .floatColumn('l', low)
          .floatColumn('c', close)
          .intColumn('v', volume)
          .at(time * 1_000_000, 'us')
        return buffer.toBufferNew()?.toString('hex')
      })
    return { table, rows }
  })
}

function ourRows(batch: readonly Sample[]): { table: string; rows: string[] }[] {
  const pieces = encodeBars(batch.map(tableBars), numbers())
  for (const { bytes, ends } of pieces) expect(bytes.length).toBe(ends.at(-1))
  return pieces.map((piece) => ({
    table: piece.table,
    rows: lines(piece).map((line) => line.toString('hex')),
  }))
}

describe('rows of bars', () => {
  test('have the same bytes as the rows of the library, in pieces of one table', () => {
    fc.assert(
      fc.property(fc.array(series, { maxLength: 8 }), (batch) => {
        expect(ourRows(batch)).toEqual(libraryRows(batch))
      }),
    )
  })

  test('have the same bytes when a name is longer than the first buffer', () => {
    const list = [1, 2].map((price) => ({ ...usual, open: price }))
    const batch: Sample[] = [{ table: usualTable, name: '€'.repeat(9_000), list }]
    expect(ourRows(batch)).toEqual(libraryRows(batch))
  })

  test('of a table are cut into pieces of 5,000', () => {
    const list = Array.from({ length: 10_001 }, (_, i) => ({
      ...usual,
      time: feedSeconds(60 * i),
      volume: i,
    }))
    const pieces = encodeBars([tableBars({ table: usualTable, name: 'N', list })], numbers())
    expect(pieces.map(({ ends }) => ends.length)).toEqual([5_000, 5_000, 1])
    const rows = pieces.flatMap((piece) => lines(piece).map((line) => line.toString('latin1')))
    expect(rows.map((row) => /,v=(\d+)i (\d+)t\n$/.exec(row)?.slice(1).map(Number))).toEqual(
      list.map(({ time, volume }) => [volume, time * 1_000_000]),
    )
  })
})
