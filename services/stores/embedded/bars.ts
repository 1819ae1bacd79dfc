import { type Lane, seriesId } from '../../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { isShortRead, patientReadDeadlineMs, readDeadlineMs } from '../../platform/read-turns.ts'
import type { BarStore } from '../../ports/bars.ts'
import { packRows } from './file/packed-rows.ts'
import type { PurgeSweep } from './purge-sweep.ts'
import { type FileWriter, rowsPerTurn } from './threads/file-writer.ts'
import type { Readers } from './threads/readers.ts'

const deadlineOf = (lane: Lane | undefined): number =>
  lane === 'backfill' ? patientReadDeadlineMs : readDeadlineMs

export function embeddedBars(writer: FileWriter, readers: Readers, sweep: PurgeSweep): BarStore {
  return {
    write: async (batch, lane, options) => {
      const byFeed = Map.groupBy(batch, ({ series }) => series.feed)
      const pieces = [...byFeed.values()].flatMap((own) => packRows(own, rowsPerTurn))
      await writer.writeBars(pieces, lane, options)
    },
    waitingBytes: () => writer.waitingBytes(),
    read: ({ reader, lane, ...query }) =>
      readers.call('readBars', query, reader, deadlineOf(lane), isShortRead(query.take?.count)),
    async lastTimes(feed, { reader, lane } = {}) {
      const times = new Map<string, FeedSeconds>()
      const rows = await readers.call('newestTimes', feed, reader, deadlineOf(lane))
      for (const { symbol, resolution, time } of rows) {
        const id = seriesId({ symbol: symbol as CompoundKey, resolution: resolution as Resolution })
        times.set(id, feedSeconds(time))
      }
      return times
    },
    async bounds(series, spans, reader) {
      const flat = Float64Array.from(spans.flatMap(({ from, to }) => [from, to]))
      const found = await readers.call('bounds', { series, spans: flat }, reader)
      return spans.map((_, i) => {
        const [first = Number.NaN, last = Number.NaN] = found.subarray(2 * i, 2 * i + 2)
        return Number.isNaN(first) ? undefined : { first: feedSeconds(first), last: feedSeconds(last) }
      })
    },
    async purge(feed: FeedKey) {
      await writer.call('purgeBars', feed, 'live')
      sweep.wake()
    },
    async ping() {
      writer.throwIfFailing()
      await Promise.all([
        // The store counts as unavailable while its writer answers but cannot write.
        writer.call(writer.isFailing ? 'probe' : 'ping', undefined, 'live'),
        readers.call('ping', undefined),
      ])
    },
  }
}
