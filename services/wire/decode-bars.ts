import { type Bars, columns } from '../core/bars/bar.ts'
import { fromInteger } from '../core/bars/prices.ts'
import type { Bars__Output } from './gen/fxd/v1/Bars.ts'
import { batchBarsMax } from './limits.ts'
import { readColumn, readVarint } from './varint.ts'

export interface ReceivedBars {
  readonly sequence: number
  readonly lane: 'live' | 'backfill' | undefined
  readonly series: readonly ReceivedSeries[]
}

export interface ReceivedSeries {
  readonly symbol: string
  readonly resolution: string
  readonly scale: number
  readonly count: number
  /** The bars, or the fault if the columns differ in length or if the message has too many series. */
  readonly bars: Bars | string
}

/** The field number of the first of `columns`; the others follow in their order. */
const firstColumn = 4
const lanes = [undefined, 'live', 'backfill'] as const
const none = new Float64Array(0)

/** In the order of `columns`. */
type Columns = (Float64Array | undefined)[]

/**
 * Stands for each series of a message with too many, which ingest refuses whole. 256 KiB may be 131,000 empty series,
 * whose columns would take 200 MB and a second.
 */
const oneTooMany: ReceivedSeries = {
  symbol: '',
  resolution: '',
  scale: 0,
  count: 0,
  bars: 'too many series in one message',
}

/** Converts the message as the gRPC library decoded it. */
export function receivedBars({ sequence, lane, series }: Bars__Output): ReceivedBars {
  return {
    sequence,
    lane: lane === 'LANE_LIVE' ? 'live' : lane === 'LANE_BACKFILL' ? 'backfill' : undefined,
    series: series.map((each, i) => {
      if (i >= batchBarsMax) return oneTooMany
      const read = columns.map((name) => sums(each[name]))
      return toSeries(each.symbol, each.resolution, each.scale, read)
    }),
  }
}

function sums(deltas: readonly number[]): Float64Array {
  let value = 0
  return Float64Array.from(deltas, (delta) => (value += delta))
}

/**
 * Decodes the message from its bytes, without an object for every number as in the library. Returns `undefined` for
 * any unusual encoding: then the library must decode it.
 */
export function decodeBars(message: Buffer): ReceivedBars | undefined {
  const body = new FieldReader(message, 0, message.length)
  if (!body.next() || body.number !== 3 || !body.isBytes) return undefined
  // The number of fields has no limit here: a message with too many series would take the library a second.
  const fields = new FieldReader(message, body.start, body.end, Number.POSITIVE_INFINITY)
  if (body.next() || body.isOdd) return undefined
  let sequence = 0
  let lane = 0
  const series: ReceivedSeries[] = []
  while (fields.next()) {
    const { number, isBytes, value } = fields
    if (number === 1 && !isBytes) sequence = value
    else if (number === 2 && !isBytes && value < lanes.length) lane = value
    else if (number === 3 && isBytes) {
      const one = series.length < batchBarsMax ? decodeOne(message, fields.start, fields.end) : oneTooMany
      if (!one) return undefined
      series.push(one)
    } else return undefined
  }
  return fields.isOdd ? undefined : { sequence, lane: lanes[lane], series }
}

function decodeOne(bytes: Buffer, start: number, end: number): ReceivedSeries | undefined {
  const fields = new FieldReader(bytes, start, end)
  let symbol = ''
  let resolution = ''
  let scale = 0
  const read: Columns = [undefined, undefined, undefined, undefined, undefined, undefined, undefined]
  while (fields.next()) {
    const { number } = fields
    if (!fields.isBytes) {
      if (number !== 3 || fields.value > 0xffff_ffff) return undefined
      scale = fields.value
    } else if (number === 1) symbol = bytes.toString('utf8', fields.start, fields.end)
    else if (number === 2) resolution = shortText(bytes, fields.start, fields.end)
    else {
      const column = number - firstColumn
      if (column < 0 || column >= columns.length || read[column]) return undefined
      const values = readColumn(bytes, fields.start, fields.end)
      if (!values) return undefined
      read[column] = values
    }
  }
  return fields.isOdd ? undefined : toSeries(symbol, resolution, scale, read)
}

/** Decodes a text that often has one character, such as resolution 1: V8 then allocates no string. */
const shortText = (bytes: Buffer, start: number, end: number): string =>
  end - start === 1 && (bytes[start] as number) < 128
    ? String.fromCharCode(bytes[start] as number)
    : bytes.toString('utf8', start, end)

/** Written out by column: loops over column names cost several times as much, and most series have one bar. */
function toSeries(symbol: string, resolution: string, scale: number, read: Columns): ReceivedSeries {
  const bars: Bars = {
    time: read[0] ?? none,
    open: read[1] ?? none,
    high: read[2] ?? none,
    low: read[3] ?? none,
    close: read[4] ?? none,
    volume: read[5] ?? none,
    revision: read[6] ?? none,
  }
  const count = bars.time.length
  const odd = columns.find((_, i) => (read[i] ?? none).length !== count)
  if (odd) {
    const fault = `${odd}: got ${bars[odd].length} values, wanted ${count} as in time`
    return { symbol, resolution, scale, count, bars: fault }
  }
  toPrices(bars.open, scale)
  toPrices(bars.high, scale)
  toPrices(bars.low, scale)
  toPrices(bars.close, scale)
  return { symbol, resolution, scale, count, bars }
}

function toPrices(column: Float64Array, scale: number): void {
  for (let i = 0; i < column.length; i++) {
    const units = column[i] as number
    // Above 2^53 the sums of the differences are not exact; such a price becomes invalid.
    column[i] = Number.isSafeInteger(units) ? fromInteger(units, scale) : Number.POSITIVE_INFINITY
  }
}

/** Maximum fields of a series that are decoded here; the library decodes messages with more. */
const fieldsMax = 10_000

/** Reads the fields of a message, which lies at `[position, end)` of the bytes, one after another. */
class FieldReader {
  readonly #bytes: Buffer
  readonly #limit: number
  readonly #fieldsMax: number
  #count = 0
  position: number
  number = 0
  /** Whether the field is length-delimited, from `start` to `end`; otherwise it is the varint `value`. */
  isBytes = false
  value = 0
  start = 0
  end = 0
  /** The library must decode this message. */
  isOdd = false

  constructor(bytes: Buffer, position: number, limit: number, most: number = fieldsMax) {
    this.#bytes = bytes
    this.position = position
    this.#limit = limit
    this.#fieldsMax = most
  }

  /** Moves to the next field; false behind the last one, and where `isOdd` became true. */
  next(): boolean {
    if (this.position >= this.#limit) return false
    const tag = readVarint(this.#bytes, this, this.#limit)
    const value = tag === undefined ? undefined : readVarint(this.#bytes, this, this.#limit)
    this.isOdd = true
    if (tag === undefined || value === undefined || this.#count === this.#fieldsMax) return false
    if (tag % 8 !== 0 && (tag % 8 !== 2 || value > this.#limit - this.position)) return false
    this.isOdd = false
    this.#count += 1
    this.number = tag >>> 3
    this.isBytes = tag % 8 === 2
    this.value = value
    this.start = this.position
    this.end = this.isBytes ? this.position + value : this.position
    this.position = this.end
    return true
  }
}
