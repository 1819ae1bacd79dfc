import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { BusEvent, LiveBar } from '../../../ports/bus.ts'

/** The first byte of an entry: the encoding of the rest. */
const asJson = 0
const asBars = 1
const headBytes = 5
const numbersPerBar = 7
const barBytes = numbersPerBar * 8

/**
 * Maximum bytes of an event: far above a minute of 1,622 symbols (about 150 kB). Batches of ingest are smaller still.
 */
export const eventBytesMax = 4 * 1024 * 1024

/** Throws a `RangeError` for an event that is too large. */
export function encodeEvent(event: BusEvent): Buffer {
  const bytes = event.type === 'bars' ? encodeBars(event.feed, event.bars) : encodeJson(event)
  if (bytes.length > eventBytesMax)
    throw new RangeError(
      `an event of the bus has ${bytes.length} bytes; it must have ${eventBytesMax} at most`,
    )
  return bytes
}

/** Returns `undefined` for an event that this version cannot read: another version wrote it, or it is truncated. */
export function decodeEvent(bytes: Buffer): BusEvent | undefined {
  try {
    if (bytes[0] === asJson) return JSON.parse(bytes.toString('utf8', 1)) as BusEvent
    return bytes[0] === asBars ? decodeBars(bytes) : undefined
  } catch {
    return undefined
  }
}

function encodeJson(event: BusEvent): Buffer {
  const text = Buffer.from(JSON.stringify(event))
  return Buffer.concat([Buffer.of(asJson), text])
}

/** The numbers of all bars, then the names: the feed, and the resolution and symbol of each bar. */
function encodeBars(feed: FeedKey, bars: readonly LiveBar[]): Buffer {
  let names: string = feed
  for (const { resolution, symbol } of bars) names += `\n${resolution} ${symbol}`
  const start = headBytes + bars.length * barBytes
  const bytes = Buffer.allocUnsafe(start + Buffer.byteLength(names))
  bytes[0] = asBars
  bytes.writeUInt32LE(bars.length, 1)
  let at = headBytes
  for (const { bar } of bars) {
    bytes.writeDoubleLE(bar.time, at)
    bytes.writeDoubleLE(bar.open, at + 8)
    bytes.writeDoubleLE(bar.high, at + 16)
    bytes.writeDoubleLE(bar.low, at + 24)
    bytes.writeDoubleLE(bar.close, at + 32)
    bytes.writeDoubleLE(bar.volume, at + 40)
    bytes.writeDoubleLE(bar.revision, at + 48)
    at += barBytes
  }
  bytes.write(names, start)
  return bytes
}

function decodeBars(bytes: Buffer): BusEvent | undefined {
  const count = bytes.readUInt32LE(1)
  const [feed, ...names] = bytes.toString('utf8', headBytes + count * barBytes).split('\n')
  if (names.length !== count) return undefined
  const bars = names.map((name, i): LiveBar => {
    const space = name.indexOf(' ')
    const at = headBytes + i * barBytes
    return {
      symbol: name.slice(space + 1) as CompoundKey,
      resolution: name.slice(0, space) as Resolution,
      bar: {
        time: feedSeconds(bytes.readDoubleLE(at)),
        open: bytes.readDoubleLE(at + 8),
        high: bytes.readDoubleLE(at + 16),
        low: bytes.readDoubleLE(at + 24),
        close: bytes.readDoubleLE(at + 32),
        volume: bytes.readDoubleLE(at + 40),
        revision: bytes.readDoubleLE(at + 48),
      },
    }
  })
  return { type: 'bars', feed: feed as FeedKey, bars }
}
