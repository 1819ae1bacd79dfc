import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Cancel } from '../ports/clock.ts'
import type { WireLane } from '../wire/encode-bars.ts'
import type { Spool, SpoolDepth } from './spool/spool.ts'

export interface CollectorStatus {
  readonly spool: Pick<Spool, 'depth' | 'droppedBars' | 'failures' | 'unreadableBytes'> | undefined
  readonly isActive: boolean
  readonly tickAgeMs: number | undefined
  readonly readjustedSymbols: number
}

export interface FeedMetrics {
  sent(lane: WireLane, bars: number): void
  acked(lane: WireLane, bars: number): void
  refused(bars: number): void
  sessionBegan(): void
  sessionEnded(): void
  /** Reads the state at each scrape until cancelled. */
  watch(read: () => CollectorStatus): Cancel
}

export interface CollectorMetrics {
  of(feed: FeedKey): FeedMetrics
}

/** Metrics of all collectors of one process. Only the label `feed` has many values. */
export function createCollectorMetrics(metrics: Metrics): CollectorMetrics {
  const readers = new Map<FeedKey, () => CollectorStatus>()
  createStatusMetrics(metrics, readers)
  const counter = (name: string, help: string) => metrics.counter(`fxd_collector_${name}`, help, ['feed'])
  const byLane = (name: string, help: string) =>
    metrics.counter(`fxd_collector_${name}`, help, ['feed', 'lane'])
  const sent = byLane('sent_bars_total', 'Bars sent to ingest; retries are counted again')
  const acked = byLane('acked_bars_total', 'Bars that ingest acknowledged as stored')
  const refused = counter('refused_bars_total', 'Bars that ingest rejected')
  const sessions = counter('sessions_total', 'Sessions in which this collector was the active one')
  const reconnects = counter('reconnects_total', 'Sessions that ended or failed to start; each is retried')
  return {
    of: (feed) => ({
      sent: (lane, bars) => sent.inc({ feed, lane: lane.toLowerCase() }, bars),
      acked: (lane, bars) => acked.inc({ feed, lane: lane.toLowerCase() }, bars),
      refused: (bars) => refused.inc({ feed }, bars),
      sessionBegan: () => sessions.inc({ feed }),
      sessionEnded: () => reconnects.inc({ feed }),
      watch(read) {
        readers.set(feed, read)
        // The next collector of the feed may have registered already.
        return () => void (readers.get(feed) === read && readers.delete(feed))
      },
    }),
  }
}

type Value = (status: CollectorStatus) => number | undefined

function createStatusMetrics(metrics: Metrics, readers: ReadonlyMap<FeedKey, () => CollectorStatus>): void {
  const gauge = (name: string, help: string, value: Value): void => {
    metrics.gauge(`fxd_collector_${name}`, help, ['feed'], (metric) => {
      metric.reset()
      for (const [feed, read] of readers) {
        const now = value(read())
        if (now !== undefined) metric.set({ feed }, now)
      }
    })
  }
  const total = (name: string, help: string, value: Value): void => {
    metrics.counter(`fxd_collector_${name}`, help, ['feed'], (metric) => {
      for (const [feed, read] of readers) metric.inc({ feed }, value(read()) ?? 0)
    })
  }
  gauge('active', '1: this collector is the active one of its feed', ({ isActive }) => Number(isActive))
  gauge(
    'tick_age_seconds',
    'Seconds since the last tick or bars arrived; before the first, since the source was opened',
    ({ tickAgeMs }) => tickAgeMs && tickAgeMs / 1_000,
  )
  total(
    'readjusted_symbols_total',
    'Symbols whose history the terminal re-adjusted, such as those of shares after a split',
    (status) => status.readjustedSymbols,
  )
  const spooled = (name: string, help: string, value: (depth: SpoolDepth) => number): void =>
    gauge(`spool_${name}`, help, ({ spool }) => spool && value(spool.depth))
  spooled('bytes', 'Bytes of the files of the spool', ({ bytes }) => bytes)
  spooled('limit_bytes', 'Maximum bytes of the files of the spool', ({ bytesMax }) => bytesMax)
  spooled('batches', 'Unacknowledged batches in the spool', ({ batches }) => batches)
  spooled('bars', 'Unacknowledged bars in the spool', ({ bars }) => bars)
  const ageHelp = 'Age of the oldest batch in the spool that no other collector has, in seconds'
  spooled('age_seconds', ageHelp, ({ ageMs }) => ageMs / 1_000)
  total(
    'spool_dropped_bars_total',
    'Unacknowledged bars that the spool dropped at its limit of bytes or hours',
    ({ spool }) => spool?.droppedBars,
  )
  total(
    'spool_failures_total',
    'Batches that could not be written to the spool',
    ({ spool }) => spool?.failures,
  )
  total(
    'spool_unreadable_bytes_total',
    'Bytes of spool files that could not be read at the start: damaged, or torn during a write',
    ({ spool }) => spool?.unreadableBytes,
  )
}
