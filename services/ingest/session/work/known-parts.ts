import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Known } from '../../../wire/gen/fxd/v1/Known.ts'
import type { KnownSeries } from '../../../wire/gen/fxd/v1/KnownSeries.ts'
import { partsOf } from '../../../wire/parts.ts'
import { encodeWindows } from '../../../wire/window-times.ts'
import type { SeriesSpans } from '../../feed/separate-windows.ts'

/** Maximum bytes of a time or of a difference of times as a varint. */
const bytesPerNumber = 6
/** Estimated bytes of an entry without its symbol and windows. */
const bytesPerEntry = 24
/** Maximum windows per entry; further windows go into another entry. */
const windowsPerEntryMax = 2_000

/** What ingest has stored of a feed, in parts that fit a message. At least one part; the last one is marked. */
export function* knownParts(
  feed: FeedKey,
  newest: ReadonlyMap<string, FeedSeconds>,
  windows: ReadonlyMap<string, SeriesSpans>,
): Generator<Known> {
  for (const { part, last } of partsOf(entries(feed, newest, windows), bytesOf)) yield { series: part, last }
}

const bytesOf = ({ symbol = '', windows = [] }: KnownSeries): number =>
  bytesPerEntry + 4 * symbol.length + windows.length * bytesPerNumber

function* entries(
  feed: FeedKey,
  newest: ReadonlyMap<string, FeedSeconds>,
  windows: ReadonlyMap<string, SeriesSpans>,
): Generator<KnownSeries> {
  for (const [id, time] of newest) if (!windows.has(id)) yield { ...named(feed, id), newest: time }
  for (const [id, { spans }] of windows) {
    const time = newest.get(id)
    for (let i = 0; i < spans.length; i += windowsPerEntryMax) {
      yield {
        ...named(feed, id),
        ...(time !== undefined && { newest: time }),
        windows: encodeWindows(spans.slice(i, i + windowsPerEntryMax)),
      }
    }
  }
}

/** The reverse of `seriesId`, with the clean name only. */
function named(feed: FeedKey, id: string): { symbol: string; resolution: string } {
  const [resolution = ''] = id.split(' ', 1)
  const symbol = id.slice(resolution.length + 1)
  return { resolution, symbol: symbol.slice(feed.length + 1) }
}
