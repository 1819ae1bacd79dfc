import { type Bars, barsOf } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { type EncodedSeries, encodeSeriesBars } from '../../../services/wire/encode-bars.ts'
import { digits, keyOf } from './bench-feed.ts'

const frameHeaderBytes = 4

/** Prices with five decimals without a trailing zero: all bars have texts of equal length, so bytes count bars. */
const price = (n: number): number => (110_001 + ((n * 7_919) % 8_000) * 10) / 1e5

const barOf = (n: number, time: number) => ({
  time: feedSeconds(time),
  open: price(n + time),
  high: 1.90001,
  low: 1.00001,
  close: price(n * 7 + time),
  volume: 100 + (n % 900),
})

/** Bytes of one bar on the wire to a client, by a symbol's name; the same for all names of its length. */
export function barMessageBytes(name: string): number {
  const { time, ...values } = barOf(0, 1_767_600_000)
  const message = { type: 'bar', symbol: keyOf(name), bar: { time, ...values } }
  return frameHeaderBytes + JSON.stringify(message).length
}

/** One minute of each symbol, with the current time as its reading. */
export const barsOfMinute = (
  names: readonly string[],
  minute: number,
): { readonly name: string; readonly bars: Bars }[] =>
  names.map((name, n) => ({
    name,
    bars: barsOf([{ ...barOf(n, minute), revision: systemClock.utcMs() }]),
  }))

/** The same as a collector sends it. */
export const encodeMinute = (names: readonly string[], minute: number): EncodedSeries[] =>
  barsOfMinute(names, minute).map(({ name, bars }) =>
    encodeSeriesBars({ symbol: name, resolution: '1', scale: digits }, bars),
  )
