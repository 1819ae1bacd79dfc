import { type RefusalReason, refusalReasons } from '../core/bars/bar-rules.ts'
import type { Lane } from '../core/bars/series.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import { fromZero, type Metrics, secondsBuckets } from '../platform/metrics.ts'
import type { CredentialFault } from './credentials/access.ts'

export type LaneName = Lane | 'import'

const alarmKinds = ['sequence', 'revision', 'publish', 'gap', 'readjusted'] as const
type AlarmKind = (typeof alarmKinds)[number]

/** From a heartbeat. */
export interface CollectorState {
  readonly terminalConnected: boolean
  readonly spooledBars: number
  /** `undefined`: the collector does not say how many bars it spools. */
  readonly spoolAgeSeconds?: number | undefined
  /** `undefined`: its source has no files. */
  readonly rejectedLines?: number | undefined
}

export interface IngestMetrics {
  bars(lane: LaneName, outcome: 'accepted' | 'revised' | 'unchanged', count: number): void
  refused(reason: RefusalReason, count: number): void
  refusedWindow(reason: RefusalReason): void
  pushed(count: number, seconds: number): void
  committed(lane: LaneName, seconds: number): void
  /** Counts an event that may lose or delay bars; each kind has an alert. */
  alarm(kind: AlarmKind): void
  session(mode: 'live' | 'import', by: 1 | -1): void
  /** What the active session of a feed says about its collector; `undefined`: the session has ended. */
  collector(feed: FeedKey, state: CollectorState | undefined): void
  ended(code: string): void
  refusedCall(reason: CredentialFault | 'foreign_feed'): void
  /** Counts a call that ended, of any service or none. */
  call(code: string): void
  queued(lane: LaneName, by: number): void
  backlog(by: number): void
  droppedFromBacklog(count: number): void
}

export function createIngestMetrics(metrics: Metrics): IngestMetrics {
  const bars = metrics.counter(
    'fxd_ingest_bars_total',
    'Valid bars from collectors and imports, by outcome: accepted, revised or unchanged',
    ['lane', 'outcome'],
  )
  const refused = fromZero(
    metrics.counter('fxd_ingest_refused_bars_total', 'Bars rejected, by reason', ['reason']),
    'reason',
    refusalReasons.map((reason) => reason.toLowerCase()),
  )
  const pushed = metrics.counter('fxd_ingest_pushed_bars_total', 'Live bars published to all readers')
  const push = metrics.histogram(
    'fxd_ingest_push_seconds',
    'Time from the receipt of a live batch to its publication',
    secondsBuckets,
  )
  const commit = metrics.histogram(
    'fxd_ingest_commit_seconds',
    'Time from the receipt of a batch to its commit',
    secondsBuckets,
    ['lane'],
  )
  const alarms = fromZero(
    metrics.counter(
      'fxd_ingest_alarms_total',
      'Alarms: wrong sequences, rejected revisions, bars not published, gaps (history lost by a collector), too many symbols re-adjusted',
      ['kind'],
    ),
    'kind',
    alarmKinds,
  )
  const sessions = metrics.gauge('fxd_ingest_sessions', 'Open sessions', ['mode'])
  const ended = metrics.counter('fxd_ingest_sessions_ended_total', 'Sessions ended, by status', ['code'])
  const calls = metrics.counter('fxd_ingest_calls_total', 'gRPC calls, by the status they ended with', [
    'code',
  ])
  const refusedCalls = metrics.counter(
    'fxd_ingest_refused_calls_total',
    'gRPC calls rejected for their credential: missing, unknown, expired, for other feeds, not for administration',
    ['reason'],
  )
  const queue = metrics.gauge('fxd_ingest_queued_batches', 'Batches received and not yet acknowledged', [
    'lane',
  ])
  const backlog = metrics.gauge('fxd_ingest_backlog_bars', 'Live bars that wait for the bus')
  const dropped = metrics.counter(
    'fxd_ingest_backlog_dropped_bars_total',
    'Live bars dropped because too many waited for the bus, or for too long; readers read the store',
  )
  return {
    bars: (lane, outcome, count) => void (count > 0 && bars.inc({ lane, outcome }, count)),
    refused: (reason, count) => refused.inc({ reason: reason.toLowerCase() }, count),
    refusedWindow: windowCounter(metrics),
    pushed(count, seconds) {
      pushed.inc(count)
      push.observe(seconds)
    },
    committed: (lane, seconds) => commit.observe({ lane }, seconds),
    alarm: (kind) => alarms.inc({ kind }),
    session: (mode, by) => sessions.inc({ mode }, by),
    collector: collectorGauges(metrics),
    ended: (code) => ended.inc({ code }),
    refusedCall: (reason) => refusedCalls.inc({ reason }),
    call: (code) => calls.inc({ code }),
    queued: (lane, by) => queue.inc({ lane }, by),
    backlog: (by) => backlog.inc(by),
    droppedFromBacklog: (count) => dropped.inc(count),
  }
}

function windowCounter(metrics: Metrics): IngestMetrics['refusedWindow'] {
  const refused = fromZero(
    metrics.counter('fxd_ingest_refused_windows_total', 'Windows rejected, by reason', ['reason']),
    'reason',
    ['too_many_windows'],
  )
  return (reason) => refused.inc({ reason: reason.toLowerCase() })
}

function collectorGauges(metrics: Metrics): IngestMetrics['collector'] {
  const gauge = (name: string, help: string) =>
    metrics.gauge(name, `For each feed with an active session here: ${help}`, ['feed'])
  const connected = gauge('fxd_ingest_terminal_connected', '1 if its terminal is connected to its broker')
  const bars = gauge('fxd_ingest_spooled_bars', 'bars in the spool of its collector, as the collector says')
  const age = gauge(
    'fxd_ingest_spool_age_seconds',
    'age of the oldest bar in the spool of its collector, as the collector says',
  )
  const rejected = gauge(
    'fxd_ingest_rejected_lines',
    'lines of its files that its collector rejects, as the files are now; the log of the collector has their reasons',
  )
  return (feed, state) => {
    for (const each of [connected, bars, age, rejected]) each.remove({ feed })
    if (!state) return
    connected.set({ feed }, Number(state.terminalConnected))
    if (state.rejectedLines !== undefined) rejected.set({ feed }, state.rejectedLines)
    if (state.spoolAgeSeconds === undefined) return
    bars.set({ feed }, state.spooledBars)
    age.set({ feed }, state.spoolAgeSeconds)
  }
}
