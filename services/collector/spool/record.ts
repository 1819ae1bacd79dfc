import { crc32 } from 'node:zlib'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { isResolution, type Resolution } from '../../core/feeds/resolution.ts'
import type { EncodedSeries } from '../../wire/encode-bars.ts'

/** Bars of the live lane, bars of the backfill lane, or the ranges dropped at the spool's bound. */
export type RecordKind = 'live' | 'history' | 'lost'

export interface SpooledSeries {
  readonly symbol: string
  readonly resolution: Resolution
  /** Open times of the first and the last bar. */
  readonly first: FeedSeconds
  readonly last: FeedSeconds
  readonly count: number
  /** In the wire format, revisions included; empty for lost bars. */
  readonly encoded: EncodedSeries
}

export interface SpoolRecord {
  readonly kind: RecordKind
  /** When it entered the spool. */
  readonly utcMs: number
  readonly series: readonly SpooledSeries[]
}

/** Length and checksum of the body. */
const headBytes = 8
/** Kind, time, number of series. */
const fixedBytes = 1 + 8 + 4
/** Two lengths of names, two times, a count, the length of the bars. */
const bytesPerSeries = 2 + 1 + 8 + 8 + 4 + 4
/** Maximum bytes of a record. A greater length in a file is damage. */
const recordBytesMax = 4 * 1024 * 1024
const kinds: readonly (RecordKind | undefined)[] = [undefined, 'live', 'history', 'lost']

/** Encodes a record for a file: length, checksum, body. Throws when it is too long to be read back. */
export function encodeRecord({ kind, utcMs, series }: SpoolRecord): Uint8Array {
  const named = series.map((each) => ({ ...each, name: Buffer.from(each.symbol) }))
  const length = named.reduce(
    (sum, { name, resolution, encoded }) =>
      sum + bytesPerSeries + name.length + resolution.length + encoded.length,
    fixedBytes,
  )
  if (length > recordBytesMax)
    throw new Error(`spool record: got ${length} bytes, wanted at most ${recordBytesMax}`)
  const bytes = Buffer.alloc(headBytes + length)
  let at = headBytes
  at = bytes.writeUInt8(kinds.indexOf(kind), at)
  at = bytes.writeDoubleLE(utcMs, at)
  at = bytes.writeUInt32LE(named.length, at)
  for (const { name, resolution, first, last, count, encoded } of named) {
    at = bytes.writeUInt16LE(name.length, at)
    at = bytes.writeUInt8(resolution.length, at)
    at = bytes.writeDoubleLE(first, at)
    at = bytes.writeDoubleLE(last, at)
    at = bytes.writeUInt32LE(count, at)
    at = bytes.writeUInt32LE(encoded.length, at)
    at += name.copy(bytes, at)
    at += bytes.write(resolution, at, 'latin1')
    bytes.set(encoded, at)
    at += encoded.length
  }
  bytes.writeUInt32LE(length, 0)
  bytes.writeUInt32LE(crc32(bytes.subarray(headBytes)), 4)
  return bytes
}

export interface FoundRecord {
  readonly record: SpoolRecord
  readonly offset: number
  readonly length: number
}

/** Yields the whole records in these bytes. All other bytes were damaged, or torn when they were written. */
export function* recordsIn(bytes: Uint8Array): Generator<FoundRecord> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let offset = 0; offset + headBytes + fixedBytes <= buffer.length; ) {
    const found = recordAt(buffer, offset)
    if (found) yield found
    // After damage no length is reliable. The search continues at the next byte with a correct checksum.
    offset += found?.length ?? 1
  }
}

function recordAt(buffer: Buffer, offset: number): FoundRecord | undefined {
  const length = buffer.readUInt32LE(offset)
  const end = offset + headBytes + length
  const kind = kinds[buffer.readUInt8(offset + headBytes)]
  if (kind === undefined || length < fixedBytes || length > recordBytesMax || end > buffer.length)
    return undefined
  const body = buffer.subarray(offset + headBytes, end)
  const record = crc32(body) === buffer.readUInt32LE(offset + 4) ? decode(kind, body) : undefined
  return record && { record, offset, length: headBytes + length }
}

/** Returns `undefined` for a body that another version of this program may have written. */
function decode(kind: RecordKind, body: Buffer): SpoolRecord | undefined {
  const utcMs = body.readDoubleLE(1)
  const series: SpooledSeries[] = []
  let at = fixedBytes
  for (let left = body.readUInt32LE(9); left > 0; left--) {
    const nameEnd = at + bytesPerSeries + body.readUInt16LE(at)
    const resolutionEnd = nameEnd + body.readUInt8(at + 2)
    const end = resolutionEnd + body.readUInt32LE(at + 23)
    const resolution = body.toString('latin1', nameEnd, resolutionEnd)
    if (!isResolution(resolution) || end > body.length) return undefined
    series.push({
      symbol: body.toString('utf8', at + bytesPerSeries, nameEnd),
      resolution,
      first: body.readDoubleLE(at + 3) as FeedSeconds,
      last: body.readDoubleLE(at + 11) as FeedSeconds,
      count: body.readUInt32LE(at + 19),
      encoded: body.subarray(resolutionEnd, end) as Uint8Array as EncodedSeries,
    })
    at = end
  }
  return at === body.length ? { kind, utcMs, series } : undefined
}

export const barsIn = ({ series }: Pick<SpoolRecord, 'series'>): number =>
  series.reduce((sum, { count }) => sum + count, 0)
