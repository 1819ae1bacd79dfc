import { fromZero, type Metrics, secondsBuckets } from '../platform/metrics.ts'
import { closings } from './connection/close-codes.ts'

export type StreamMetrics = ReturnType<typeof createStreamMetrics>

export const faultPlaces = ['socket', 'upgrade', 'shard'] as const
export const gapCauses = ['lost', 'replay', 'asked', 'returned', 'closed'] as const
export const replayGapReasons = ['late', 'failed', 'too_many_replays', 'too_many_bars', 'unproven'] as const
export const slotCalls = ['open', 'close', 'renew'] as const

interface Readings {
  connections(): number
  subscriptions(): number
  backlogBytes(): number
  /** Counted once per socket and symbol. */
  replays(): { readonly waiting: number; readonly waitingForNextBar: number }
  draining(): boolean
}

/** Metrics of the stream. The values of no label depend on keys, symbols or anything else a client chooses. */
export const createStreamMetrics = (metrics: Metrics, read: Readings) => {
  addGauges(metrics, read)
  return {
    forcedCloses: metrics.counter(
      'fxd_stream_drain_forced_closes_total',
      'Sockets that a drain closed in the guard seconds around the end of a minute, because its time was over.',
    ),
    upgrades: metrics.counter(
      'fxd_stream_upgrades_total',
      'Upgrade requests by outcome: opened, a failure code, or gone when the client left first.',
      ['outcome'],
    ),
    closes: fromZero(
      metrics.counter(
        'fxd_stream_closes_total',
        'Sockets closed, by close code; other is any code that clients invented.',
        ['code'],
      ),
      'code',
      Object.values(closings).map(({ code }) => String(code)),
    ),
    bars: metrics.counter('fxd_stream_bars_total', 'Bars pushed, one per bar and subscribed socket.'),
    stale: metrics.counter(
      'fxd_stream_stale_bars_total',
      'Live bars dropped because they were not newer than the last one of their symbol.',
    ),
    throttled: metrics.counter(
      'fxd_stream_throttled_total',
      'Times a client exceeded the message rate and was throttled.',
    ),
    badMessages: metrics.counter('fxd_stream_bad_messages_total', 'Messages answered by an error frame.'),
    faults: fromZero(
      metrics.counter(
        'fxd_stream_faults_total',
        'Defects of fxd that ended one socket, upgrade request or call of fxd.v1.Shard; others continue.',
        ['place'],
      ),
      'place',
      faultPlaces,
    ),
    ...createLossMetrics(metrics),
    slotFailures: fromZero(
      metrics.counter('fxd_stream_slot_failures_total', 'Calls to open, renew or close slots that failed.', [
        'call',
      ]),
      'call',
      slotCalls,
    ),
    burst: metrics.histogram(
      'fxd_stream_burst_seconds',
      'Time from the arrival of bars on the bus to their last socket write.',
      secondsBuckets,
    ),
  }
}

/** Bars that sockets missed, and how they were delivered or named. */
const createLossMetrics = (metrics: Metrics) => ({
  gaps: fromZero(
    metrics.counter(
      'fxd_stream_gaps_total',
      'Symbols named in GAP frames, one per socket, by cause: lost (on the bus), replay (it failed), asked (older bars than a replay has), returned (a symbol was absent) or closed (the socket).',
      ['cause'],
    ),
    'cause',
    gapCauses,
  ),
  replayGaps: fromZero(
    metrics.counter(
      'fxd_stream_replay_gaps_total',
      'Replays that ended in a GAP frame, by reason: late, failed (store unavailable), too_many_replays, too_many_bars, or unproven (the store did not confirm bars that the bus lost or delivered).',
      ['reason'],
    ),
    'reason',
    replayGapReasons,
  ),
  losses: metrics.counter('fxd_stream_bus_losses_total', 'Losses of events on the bus, one per feed.'),
  refillFailures: metrics.counter(
    'fxd_stream_refill_failures_total',
    'Failed reads of the store for bars that the bus lost.',
  ),
})

function addGauges(metrics: Metrics, read: Readings): void {
  const gauge = (name: string, help: string, value: () => number): unknown =>
    metrics.gauge(name, help, [], (each) => each.set(value()))
  gauge('fxd_stream_connections', 'Open sockets.', () => read.connections())
  gauge('fxd_stream_subscriptions', 'Subscriptions over all open sockets.', () => read.subscriptions())
  gauge('fxd_stream_backlog_bytes', 'Bytes queued for clients that read slowly.', () => read.backlogBytes())
  gauge('fxd_stream_draining', '1 during a drain.', () => (read.draining() ? 1 : 0))
  const replays = 'Replays that are queued or running, one per socket and symbol.'
  gauge('fxd_stream_replays', replays, () => read.replays().waiting)
  const waiting = 'Replays that wait for the next live bar, one per socket and symbol.'
  gauge('fxd_stream_replays_caught', waiting, () => read.replays().waitingForNextBar)
}
