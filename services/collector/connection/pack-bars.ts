import { allocateBars, type Bars, barCount, copyBars, sliceBars } from '../../core/bars/bar.ts'
import { countWithinPartitions, messagePartitionsMax, partitionsOf } from '../../core/bars/partitions.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { type EncodedSeries, encodeSeriesBars } from '../../wire/encode-bars.ts'
import { messageBytesMax } from '../../wire/limits.ts'
import type { OutgoingBars } from '../series/bar-router.ts'
import { type CleanSeriesId, cleanSeriesId } from '../series/series-id.ts'

export interface Part<T extends OutgoingBars> {
  readonly item: Omit<T, 'bars'>
  readonly bars: Bars
}

export interface Packed<T extends OutgoingBars> {
  readonly message: readonly EncodedSeries[]
  /** The contents of the message, in its order. */
  readonly parts: readonly Part<T>[]
  readonly count: number
  readonly resolution: Resolution
}

/** Maximum bars of one message: ingest serves other feeds and live bars after a few milliseconds. */
const messageBarsMax = 1_000
/** Bytes reserved for the message around its series. */
const messageOverheadBytes = 4 * 1024
const seriesOverheadBytes = 8

/**
 * Packs bars of any number of series into messages of at most `barsMax` bars and `messagePartitionsMax` partitions, in
 * the given order. A message has bars of one resolution: its Ack does not wait for other tables. A series that is listed
 * more than once is merged where it is first: ingest takes each series once per message.
 */
export function* packBars<T extends OutgoingBars>(
  list: readonly T[],
  barsMax = messageBarsMax,
): Generator<Packed<T>> {
  for (const [resolution, own] of Map.groupBy(list, (item) => item.resolution))
    yield* packResolution(resolution, own, barsMax)
}

function* packResolution<T extends OutgoingBars>(
  resolution: Resolution,
  list: readonly T[],
  barsMax: number,
): Generator<Packed<T>> {
  let message: EncodedSeries[] = []
  let parts: { item: T; bars: Bars }[] = []
  let count = 0
  let bytes = 0
  let partitions = new Set<string>()
  for (const item of oncePerSeries(list)) {
    for (const { bars, encoded, size } of pieces(item, barsMax)) {
      const own = partitionsOf([{ resolution, bars }])
      if (
        count > 0 &&
        (count + barCount(bars) > barsMax ||
          bytes + size > messageBytesMax - messageOverheadBytes ||
          partitions.union(own).size > messagePartitionsMax)
      ) {
        yield { message, parts: compact(parts, count), count, resolution }
        message = []
        parts = []
        count = bytes = 0
        partitions = new Set()
      }
      for (const id of own.keys()) partitions.add(id)
      message.push(encoded)
      parts.push({ item, bars })
      count += barCount(bars)
      bytes += size
    }
  }
  if (count > 0) yield { message, parts: compact(parts, count), count, resolution }
}

/**
 * Many parts may wait for hours for their Ack, most of one bar. Columns of their own would take 2 KB for each, so all parts
 * of a message share columns.
 */
function compact<T extends OutgoingBars>(
  parts: readonly { item: T; bars: Bars }[],
  count: number,
): Part<T>[] {
  const all = allocateBars(count)
  let filled = 0
  return parts.map(({ item: { bars: _, ...item }, bars }) => {
    copyBars(bars, all, filled)
    const start = filled
    filled += barCount(bars)
    return new CompactPart<T>(item, all, { start, end: filled })
  })
}

class CompactPart<T extends OutgoingBars> implements Part<T> {
  readonly item: Omit<T, 'bars'>
  readonly #all: Bars
  readonly #start: number
  readonly #end: number

  constructor(item: Omit<T, 'bars'>, all: Bars, { start, end }: { start: number; end: number }) {
    this.item = item
    this.#all = all
    this.#start = start
    this.#end = end
  }

  get bars(): Bars {
    return sliceBars(this.#all, this.#start, this.#end)
  }
}

/** The list with each series once. The later of two bars with one time is kept. */
function oncePerSeries<T extends OutgoingBars>(list: readonly T[]): Iterable<T> {
  const series = new Map<CleanSeriesId, T>()
  for (const item of list) {
    const id = cleanSeriesId(item)
    const before = series.get(id)
    series.set(id, before ? { ...item, bars: mergeBars(item.bars, before.bars) } : item)
  }
  return series.values()
}

/** Splits one series into pieces that each fit a message: by count and partitions, then in halves while the bytes are too many. */
function* pieces(
  item: OutgoingBars,
  barsMax: number,
): Generator<{ bars: Bars; encoded: EncodedSeries; size: number }> {
  const total = barCount(item.bars)
  for (let start = 0; start < total; ) {
    const fitting = countWithinPartitions(item.bars, item.resolution, start, messagePartitionsMax)
    let end = start + Math.min(barsMax, fitting)
    for (;;) {
      const bars = sliceBars(item.bars, start, end)
      const encoded = encodeSeriesBars(item, bars)
      const size = encoded.byteLength + seriesOverheadBytes
      if (size <= messageBytesMax - messageOverheadBytes || end - start === 1) {
        yield { bars, encoded, size }
        break
      }
      end = start + Math.ceil((end - start) / 2)
    }
    start = end
  }
}
