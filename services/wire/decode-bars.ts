import type { Bars } from '../core/bars/bar.ts'
import { fromInteger } from '../core/bars/prices.ts'
import type { Bars__Output } from './gen/fxd/v1/Bars.ts'
import { readColumn, readVarint } from './varint.ts'

/** A `Bars` message with columns of numbers. */
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
  /** The bars, or the fault if the columns differ in length. */
  readonly bars: Bars | string
}

const prices = ['open', 'high', 'low', 'close'] as const
/** Columns in the order of their field numbers, from `firstColumn`. */
const columns = ['time', 'open', 'high', 'low', 'close', 'volume', 'revision'] as const
const firstColumn = 4
const lanes = [undefined, 'live', 'backfill'] as const

type Columns = Partial<Record<(typeof columns)[number], Float64Array>>

/** Converts the message as the gRPC library decoded it. */
export function receivedBars({ sequence, lane, series }: Bars__Output): ReceivedBars {
  return {
    sequence,
    lane: lane === 'LANE_LIVE' ? 'live' : lane === 'LANE_BACKFILL' ? 'backfill' : undefined,
    series: series.map((each) => {
      const summed = Object.fromEntries(columns.map((name) => [name, sums(each[name])]))
      return toSeries(each.symbol, each.resolution, each.scale, summed)
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
  const body = fieldsOf(message)
  const only = body?.[0]
  if (body?.length !== 1 || only?.number !== 3 || typeof only.value === 'number') return undefined
  const fields = fieldsOf(only.value)
  if (!fields) return undefined
  let sequence = 0
  let lane = 0
  const series: ReceivedSeries[] = []
  for (const { number, value } of fields) {
    if (number === 1 && typeof value === 'number') sequence = value
    else if (number === 2 && typeof value === 'number' && value < lanes.length) lane = value
    else if (number === 3 && typeof value !== 'number') {
      const one = decodeOne(value)
      if (!one) return undefined
      series.push(one)
    } else return undefined
  }
  return { sequence, lane: lanes[lane], series }
}

function decodeOne(bytes: Buffer): ReceivedSeries | undefined {
  const fields = fieldsOf(bytes)
  if (!fields) return undefined
  let symbol = ''
  let resolution = ''
  let scale = 0
  const read: Columns = {}
  for (const { number, value } of fields) {
    const column = columns[number - firstColumn]
    if (typeof value === 'number') {
      if (number !== 3 || value > 0xffff_ffff) return undefined
      scale = value
    } else if (number === 1) symbol = value.toString()
    else if (number === 2) resolution = value.toString()
    else if (column === undefined || read[column]) return undefined
    else {
      const values = readColumn(value)
      if (!values) return undefined
      read[column] = values
    }
  }
  return toSeries(symbol, resolution, scale, read)
}

function toSeries(symbol: string, resolution: string, scale: number, read: Columns): ReceivedSeries {
  const none = new Float64Array(0)
  const of = (name: (typeof columns)[number]): Float64Array => read[name] ?? none
  const count = of('time').length
  const odd = columns.find((name) => of(name).length !== count)
  if (odd) {
    const bars = `${odd}: got ${of(odd).length} values, wanted ${count} as in time`
    return { symbol, resolution, scale, count, bars }
  }
  for (const name of prices) toPrices(of(name), scale)
  const bars = Object.fromEntries(columns.map((name) => [name, of(name)])) as unknown as Bars
  return { symbol, resolution, scale, count, bars }
}

function toPrices(column: Float64Array, scale: number): void {
  for (let i = 0; i < column.length; i++) {
    const units = column[i] as number
    // Above 2^53 the sums of the differences are not exact; such a price becomes invalid.
    column[i] = Number.isSafeInteger(units) ? fromInteger(units, scale) : Number.POSITIVE_INFINITY
  }
}

interface Field {
  readonly number: number
  /** A varint, or the bytes of a length-delimited field. */
  readonly value: number | Buffer
}

/** Maximum fields that are decoded here; the library decodes messages with more. */
const fieldsMax = 10_000

function fieldsOf(bytes: Buffer): Field[] | undefined {
  const fields: Field[] = []
  const at = { position: 0 }
  while (at.position < bytes.length) {
    const tag = readVarint(bytes, at)
    const value = tag === undefined ? undefined : readVarint(bytes, at)
    if (tag === undefined || value === undefined || fields.length === fieldsMax) return undefined
    if (tag % 8 === 0) fields.push({ number: tag >>> 3, value })
    else if (tag % 8 === 2 && value <= bytes.length - at.position) {
      fields.push({ number: tag >>> 3, value: bytes.subarray(at.position, at.position + value) })
      at.position += value
    } else return undefined
  }
  return fields
}
