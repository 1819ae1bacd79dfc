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

/** Maximum bytes of an event: far above a minute of 1,622 symbols (about 150 kB). Batches of ingest are smaller still. */
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

const encodeJson = (event: BusEvent): Buffer =>
  Buffer.concat([Buffer.of(asJson), Buffer.from(JSON.stringify(event))])

/** Reads and writes numbers several times as fast as the methods of a buffer. */
const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** The numbers of all bars, then the names: the feed, and the resolution and symbol of each bar. */
function encodeBars(feed: FeedKey, bars: readonly LiveBar[]): Buffer {
  let names: string = feed
  for (const { resolution, symbol } of bars) names += `\n${resolution} ${symbol}`
  const start = headBytes + bars.length * barBytes
  const bytes = Buffer.allocUnsafe(start + Buffer.byteLength(names))
  bytes[0] = asBars
  bytes.writeUInt32LE(bars.length, 1)
  const view = viewOf(bytes)
  let at = headBytes
  for (const { bar } of bars) {
    view.setFloat64(at, bar.time, true)
    view.setFloat64(at + 8, bar.open, true)
    view.setFloat64(at + 16, bar.high, true)
    view.setFloat64(at + 24, bar.low, true)
    view.setFloat64(at + 32, bar.close, true)
    view.setFloat64(at + 40, bar.volume, true)
    view.setFloat64(at + 48, bar.revision, true)
    at += barBytes
  }
  bytes.write(names, start)
  return bytes
}

function decodeBars(bytes: Buffer): BusEvent | undefined {
  const count = bytes.readUInt32LE(1)
  const [feed, ...names] = bytes.toString('utf8', headBytes + count * barBytes).split('\n')
  if (names.length !== count) return undefined
  const view = viewOf(bytes)
  const bars = names.map((name, i): LiveBar => {
    const space = name.indexOf(' ')
    const at = headBytes + i * barBytes
    return {
      symbol: name.slice(space + 1) as CompoundKey,
      resolution: name.slice(0, space) as Resolution,
      bar: {
        time: feedSeconds(view.getFloat64(at, true)),
        open: view.getFloat64(at + 8, true),
        high: view.getFloat64(at + 16, true),
        low: view.getFloat64(at + 24, true),
        close: view.getFloat64(at + 32, true),
        volume: view.getFloat64(at + 40, true),
        revision: view.getFloat64(at + 48, true),
      },
    }
  })
  return { type: 'bars', feed: feed as FeedKey, bars }
}
