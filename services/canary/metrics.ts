import { type Counter, fromZero, type Gauge, type Histogram, type Metrics } from '../platform/metrics.ts'

/** Seconds: around the promise of 0.1 s, up to delays after which a client would read history. */
const arrivalBuckets = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300]

/** Codes with which the service, a proxy or the network ends a socket. */
const closeCodes = new Set([
  1000, 1001, 1002, 1003, 1005, 1006, 1008, 1009, 1011, 1012, 1013, 4000, 4001, 4002, 4500, 4501, 4502,
])

/** A close code, or the HTTP status of a refused upgrade; `none`: no answer came. */
export const endLabel = (end: number | undefined): string => {
  if (end === undefined) return 'none'
  return end < 600 || closeCodes.has(end) ? String(end) : 'other'
}

export interface CanaryMetrics {
  readonly arrival: Histogram<'feed'>
  readonly pushed: Counter<'feed'>
  readonly missed: Counter<'feed'>
  readonly differing: Counter<'feed'>
  readonly gaps: Counter<'feed'>
  readonly ends: Counter<'code'>
  readonly requests: Counter<'route' | 'status'>
}

/** The state of the canary, read at each scrape. */
export interface CanaryStatus {
  readonly isOpen: boolean
  readonly subscribed: number
  readonly rejected: number
  /** Seconds since the last comparison of all symbols with history; before the first one, since the start. */
  readonly comparedAgeSeconds: number
}

export function createCanaryMetrics(metrics: Metrics, feeds: ReadonlySet<string>): CanaryMetrics {
  const byFeed = (name: string, help: string): Counter<'feed'> =>
    fromZero(metrics.counter(name, help, ['feed']), 'feed', [...feeds])
  const arrival = metrics.histogram(
    'fxd_canary_arrival_seconds',
    'Time from the close of a bar by the feed clock to its arrival on the socket.',
    arrivalBuckets,
    ['feed'],
  )
  for (const feed of feeds) arrival.zero({ feed })
  return {
    arrival,
    pushed: byFeed('fxd_canary_pushed_bars_total', 'Bars that arrived on the socket.'),
    missed: byFeed(
      'fxd_canary_missed_bars_total',
      'Bars that history has and that were neither pushed nor named by a gap in FXD_CANARY_SETTLE_SECONDS.',
    ),
    differing: byFeed(
      'fxd_canary_differing_bars_total',
      'Bars that history shows otherwise than they were pushed, or no longer: mostly corrections by the broker.',
    ),
    gaps: byFeed('fxd_canary_gaps_total', 'Gaps that the service named: the client reads history.'),
    ends: fromZero(
      metrics.counter(
        'fxd_canary_socket_ends_total',
        'Sockets that ended by close code, and refused upgrades by HTTP status; none: no answer came.',
        ['code'],
      ),
      'code',
      [...closeCodes].map(String),
    ),
    requests: metrics.counter(
      'fxd_canary_requests_total',
      'Requests to REST by route and HTTP status; none: no answer came.',
      ['route', 'status'],
    ),
  }
}

export function showStatus(metrics: Metrics, read: () => CanaryStatus): void {
  const gauge = (name: string, help: string, value: (status: CanaryStatus) => number): Gauge =>
    metrics.gauge(name, help, [], (each) => each.set(value(read())))
  gauge('fxd_canary_socket_open', '1 while the socket is open and subscribed.', ({ isOpen }) =>
    Number(isOpen),
  )
  gauge(
    'fxd_canary_subscribed_symbols',
    'Symbols of the socket that is open.',
    ({ subscribed }) => subscribed,
  )
  gauge(
    'fxd_canary_rejected_symbols',
    'Symbols that the service rejected or withdrew: unknown, or not granted to the key.',
    ({ rejected }) => rejected,
  )
  gauge(
    'fxd_canary_compared_age_seconds',
    'Seconds since the last comparison of all symbols with history; before the first one, since the start.',
    ({ comparedAgeSeconds }) => comparedAgeSeconds,
  )
}
