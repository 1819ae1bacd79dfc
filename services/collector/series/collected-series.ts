import { type Bars, barCount, noBars } from '../../core/bars/bar.ts'
import { joinSpans, subtractSpans } from '../../core/bars/coverage.ts'
import { bucketOpen } from '../../core/bars/derive.ts'
import { allTimes, type Span, windowFromMin } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds, later } from '../../core/clocks/feed-clock.ts'
import type { Depth, FeedDefinition } from '../../core/feeds/feed.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { SourceBars, SourceSeries } from '../source.ts'
import { outside } from './bar-spans.ts'
import { closedUntil } from './closed-until.ts'
import type { KnownFeed } from './known-feed.ts'
import { UnstoredSpans } from './unstored-spans.ts'

/** Maximum age of missed bars that are still sent live: in order, before any history. */
const liveReachSeconds = 6 * 3_600

/** What a series is: fixed by its source, the manifest and ingest. */
export interface SeriesIdentity extends SourceSeries {
  /** Clean name. */
  readonly name: string
  readonly scale: number
  readonly delaySeconds: number
  /** Feed-wide windows count for this series from this time on. */
  readonly since: FeedSeconds | undefined
}

/** Maximum bars that wait for the read of their series; above it the series is read again. */
const waitingBarsMax = 10_000
/** Maximum claims that wait for the read of their series; minutes without a hole are one claim. */
export const waitingClaimsMax = 100

/** The state of one series in one session. */
export class CollectedSeries implements SeriesIdentity {
  readonly raw: string
  readonly resolution: Resolution
  readonly name: string
  readonly scale: number
  readonly delaySeconds: number
  readonly since: FeedSeconds | undefined
  /** Later bars go on the live lane, the others are history. */
  historyEnd: FeedSeconds
  /** As `Known` said, and the history that was read since. */
  covered: readonly Span[]
  /** Times read in this session whose bars were not stored: no window claims them. */
  readonly unstored: UnstoredSpans
  /** Time of the newest bar stored or spooled before the session, or sent since; other bars are corrections. */
  sentUntil: number
  /** Time of the newest bar that was stored before the session, or that ingest accepted on the live lane since. */
  acceptedUntil: number
  /** True once it was removed or replaced: work in progress for it ends. */
  isGone = false
  /** True once it was read to its end. Bars that close earlier wait in `waiting`. */
  isLive = false
  /** True when the last read is incomplete: the series is read again. */
  readAgain = false
  waiting: SourceBars[] = []
  waitingClaims: Span[] = []
  /** The last bar, which had not closed when the source reported it. */
  forming: { readonly bars: Bars; readonly derived: boolean } | undefined
  /** History that ingest refused because no later bar or clock showed that it had closed; it is sent again. */
  unclosed: Bars = noBars
  /** Separate windows cover it up to this time; later times may be covered by feed-wide ones. */
  claimedUntil: FeedSeconds | undefined
  /** The feed time at which it was last read to its end; later bars were reported when they closed. */
  readAt: FeedSeconds | undefined
  /** The feed time at which it was made, before its first read. */
  readonly #begunAt: FeedSeconds | undefined

  /** `spooled`: time of its newest live bar in the spool. */
  constructor(of: SeriesIdentity, known: KnownFeed, now: FeedSeconds | undefined, spooled?: FeedSeconds) {
    const { raw, resolution, name, scale, delaySeconds, since } = of
    const stored = known.newest(name, resolution)
    const newest = later(stored, spooled)
    this.raw = raw
    this.resolution = resolution
    this.name = name
    this.scale = scale
    this.delaySeconds = delaySeconds
    this.since = since
    this.historyEnd = historyEndOf(newest, now)
    this.#begunAt = now
    this.covered = known.covered(name, resolution, since, delaySeconds)
    this.unstored = new UnstoredSpans(resolution)
    this.sentUntil = newest ?? Number.NEGATIVE_INFINITY
    this.acceptedUntil = stored ?? Number.NEGATIVE_INFINITY
  }

  /**
   * The source must report bars from this time on. Earlier bars were reported, or are read. 0 while no time is known. After
   * the broker has set its clock back, the next bars are before the newest one that was sent.
   */
  reportFrom(now: FeedSeconds | undefined): FeedSeconds {
    const openAt = (time: FeedSeconds | undefined): number =>
      time === undefined ? 0 : bucketOpen(time, this.resolution)
    if (!this.isLive) return feedSeconds(openAt(this.#begunAt))
    const from = Math.max(openAt(this.readAt), this.sentUntil)
    return feedSeconds(now === undefined ? from : Math.min(from, openAt(now)))
  }

  /** Open time of the bar that is still forming; infinite when there is none. */
  get formingAt(): number {
    return this.forming?.bars.time[0] ?? Number.POSITIVE_INFINITY
  }

  /**
   * Continues a series of the last session when all bars that closed since then were spooled: it is live at once. Spans
   * that no window covers are read as history later.
   */
  continue({ sentUntil, forming, readAt }: CollectedSeries, now: FeedSeconds): void {
    this.isLive = true
    this.sentUntil = Math.max(this.sentUntil, sentUntil)
    this.forming = forming
    this.readAt = readAt
    this.historyEnd = feedSeconds(this.#claimUntil(now) - 1)
  }

  /** Records a read to the end. `startedAt`: its start; default: the time of the newest bar that was sent. */
  noteRead(startedAt: FeedSeconds | undefined): void {
    this.readAt = startedAt ?? (Number.isFinite(this.sentUntil) ? feedSeconds(this.sentUntil) : undefined)
    if (this.readAt !== undefined) this.#claimUntil(this.readAt)
  }

  #claimUntil(time: FeedSeconds): FeedSeconds {
    const until = closedUntil(this.resolution, time, this.delaySeconds)
    this.claimedUntil = feedSeconds(Math.min(until, this.formingAt))
    return this.claimedUntil
  }

  /** Keeps bars that close while their series is read. Above the bound they are dropped and the series is read again. */
  keepWaiting(given: SourceBars): void {
    this.waiting.push(given)
    if (this.waiting.reduce((sum, { bars }) => sum + barCount(bars), 0) <= waitingBarsMax) return
    this.waiting = []
    this.readAgain = true
  }

  /** Forgets the waiting bars of these times: a read that begins now gives them, perhaps with later values. */
  forgetWaiting(span: Span): void {
    this.waiting = this.waiting.map((given) => ({ ...given, bars: outside(given.bars, [span]) }))
  }

  /** Keeps a claim about waiting bars. Above the bound the oldest are dropped; the next session reads these spans. */
  keepClaim(span: Span): void {
    this.waitingClaims = joinSpans([...this.waitingClaims, span]).slice(-waitingClaimsMax)
  }
}

/** Where history ends and the live lane begins: after the last bar stored or spooled, at most six hours ago. */
function historyEndOf(newest: FeedSeconds | undefined, now: FeedSeconds | undefined): FeedSeconds {
  const reach = now === undefined ? undefined : now - liveReachSeconds
  // With neither known, only bars that close from now on are live.
  if (newest === undefined && reach === undefined) return feedSeconds(Number.MAX_SAFE_INTEGER)
  return feedSeconds(Math.max(newest ?? 0, reach ?? 0))
}

/** The times whose bars ingest refuses for their age; those of the feed's retention are none while the time is unknown. */
export function refusedForAge(
  { retention, earliest }: FeedDefinition,
  r: Resolution,
  now: FeedSeconds | undefined,
): Span[] {
  const kept = retention[r]
  const oldest = kept === undefined || now === undefined ? allTimes.from : now - kept
  const to = feedSeconds(Math.max(oldest, earliest ?? allTimes.from))
  return to > allTimes.from ? [{ from: allTimes.from, to }] : []
}

export function missingHistory(
  series: Pick<CollectedSeries, 'historyEnd' | 'covered'>,
  depth: Depth | undefined,
  now: FeedSeconds,
): Span[] {
  if (depth === undefined) return []
  const start = 'since' in depth ? depth.since : now - depth.seconds
  const wanted = { from: feedSeconds(Math.max(windowFromMin, start)), to: feedSeconds(series.historyEnd + 1) }
  return subtractSpans([wanted], series.covered)
}
