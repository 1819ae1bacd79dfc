import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeSeries } from '../../test/support/samples/encode-series.ts'
import { barsOf, toList } from '../core/bars/bar.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { decodeBars, type ReceivedBars, receivedBars } from './decode-bars.ts'
import type { Bars } from './gen/fxd/v1/Bars.ts'
import type { CollectorMessage } from './gen/fxd/v1/CollectorMessage.ts'
import { batchBarsMax } from './limits.ts'
import { Collector } from './load.ts'

const { requestSerialize, requestDeserialize } = Collector.service.Session
const bytesOf = (message: CollectorMessage): Buffer => requestSerialize(message)
const byLibrary = (bytes: Buffer): ReceivedBars | undefined => {
  const { bars } = requestDeserialize(bytes)
  return bars ? receivedBars(bars) : undefined
}
const plain = (received: ReceivedBars | undefined) =>
  received?.series.map((series) => ({
    ...series,
    bars: typeof series.bars === 'string' ? series.bars : toList(series.bars),
  }))

const integer = fc.oneof(
  fc.integer({ min: -100, max: 100 }),
  fc.maxSafeInteger(),
  fc.constantFrom(2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53) + 1, 63, -64, 64, 8191, -8192, 8192),
)
const column = fc.array(integer, { maxLength: 6 })
const message: fc.Arbitrary<Bars> = fc.record({
  sequence: fc.nat(),
  lane: fc.constantFrom('LANE_LIVE' as const, 'LANE_BACKFILL' as const, 'LANE_UNSPECIFIED' as const),
  series: fc.array(
    fc.record({
      symbol: fc.string({ unit: 'grapheme' }),
      resolution: fc.constantFrom('1', '60', '1M', ''),
      scale: fc.constantFrom(0, 1, 5, 300, 4_294_967_295),
      time: column,
      open: column,
      high: column,
      low: column,
      close: column,
      volume: column,
      revision: column,
    }),
    { maxLength: 4 },
  ),
})

test('bars are decoded from bytes as the library decodes them', () => {
  fc.assert(
    fc.property(message, (bars) => {
      const bytes = bytesOf({ bars })
      const read = decodeBars(bytes)
      const wanted = byLibrary(bytes)
      expect([read?.sequence, read?.lane]).toEqual([wanted?.sequence, wanted?.lane])
      expect(plain(read)).toEqual(plain(wanted))
    }),
    { numRuns: 500 },
  )
})

test('for any bytes: a message that is decoded here is decoded equally by the library', () => {
  const damaged = fc
    .tuple(
      message,
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }),
      fc.nat(),
    )
    .map(([bars, changes, cut]) => {
      const bytes = bytesOf({ bars })
      for (const [at, value] of changes) if (bytes.length > 0) bytes[at % bytes.length] = value
      return cut % 3 === 0 ? bytes.subarray(0, cut % (bytes.length + 1)) : bytes
    })
  let both = 0
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        const read = decodeBars(bytes)
        if (!read) return
        const wanted = byLibrary(bytes)
        both += 1
        expect(read.series.length).toBe(wanted?.series.length)
        expect(read.sequence).toBe(wanted?.sequence)
        // Invalid UTF-8 is decoded differently; it names no symbol in either case.
        const numbers = (received: ReceivedBars | undefined) =>
          plain(received)?.map(({ scale, count, bars }) => ({ scale, count, bars }))
        expect(numbers(read)).toEqual(numbers(wanted))
      },
    ),
    { numRuns: 2_000 },
  )
  expect(both).toBeGreaterThan(100)
})

test('every bar is equal to the last bit after encoding and decoding', () => {
  const price = fc.integer({ min: 1, max: 10 ** 12 })
  const bar = fc.record({
    time: fc.integer({ min: 0, max: 4_000_000_000 }).map(feedSeconds),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: fc.integer({ min: 0, max: 10 ** 12 }),
    revision: fc.integer({ min: 1, max: 2 * 10 ** 12 }),
  })
  fc.assert(
    fc.property(fc.array(bar, { maxLength: 50 }), fc.integer({ min: 0, max: 8 }), (list, scale) => {
      const at = (units: number): number => Number(`${units}e-${scale}`)
      const priced = list.map((each) => ({
        ...each,
        open: at(each.open),
        high: at(each.high),
        low: at(each.low),
        close: at(each.close),
      }))
      const series = encodeSeries({ symbol: 'EURUSD', resolution: '1', scale }, barsOf(priced))
      const received = decodeBars(bytesOf({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [series] } }))
      expect(plain(received)?.[0]?.bars).toEqual(priced)
    }),
  )
})

test('columns of different length are a fault that names the column', () => {
  const series = { symbol: 'A', resolution: '1', scale: 2, time: [], close: [1, 2] }
  const received = decodeBars(bytesOf({ bars: { sequence: 1, series: [series] } }))
  expect(received?.series[0]?.bars).toBe('close: got 2 values, wanted 0 as in time')
})

test('a message with more series than a batch may have is decoded without the columns of those above', () => {
  const list = Array.from({ length: 2 * batchBarsMax + 10 }, () => ({ time: [60] }))
  const bytes = bytesOf({ bars: { sequence: 7, lane: 'LANE_LIVE', series: list } })
  for (const received of [decodeBars(bytes), byLibrary(bytes)]) {
    expect(received).toMatchObject({ sequence: 7, lane: 'live' })
    expect(received?.series.length).toBe(list.length)
    const above = received?.series.slice(batchBarsMax)
    expect(new Set(above?.map(({ bars }) => bars))).toEqual(new Set(['too many series in one message']))
  }
})

test('integers above 2^53 become an invalid price, not a wrong one', () => {
  const one = { time: [60], high: [1], low: [1], close: [1], volume: [1], revision: [1] }
  const series = { symbol: 'A', resolution: '1', scale: 0, ...one, open: ['9007199254740993'] }
  const bars = decodeBars(bytesOf({ bars: { sequence: 1, series: [series] } }))?.series[0]?.bars
  expect(typeof bars === 'string' ? bars : bars?.open[0]).toBe(Number.POSITIVE_INFINITY)
})
