import { type Bars, barCount } from '../../core/bars/bar.ts'
import { joinSpans, subtractSpans } from '../../core/bars/coverage.ts'
import { type Span, windowFromMin } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds, later } from '../../core/clocks/feed-clock.ts'
import type { Depth } from '../../core/feeds/feed.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { KnownSeries__Output } from '../../wire/gen/fxd/v1/KnownSeries.ts'
import type { SourceBars, SourceSeries } from '../sources/source.ts'
import { closedUntil } from './closed-until.ts'
import { Holes } from './holes.ts'

/** So far back, bars that were missed are still live: they go out in order, before any history. */
const liveReachSeconds = 6 * 3_600

/** One series at work in one session. */
export interface CollectedSeries extends SourceSeries {
  /** Clean name. */
  readonly name: string
  readonly scale: number
  readonly delaySeconds: number
  /** Feed-wide windows count for it from here on. */
  readonly since: FeedSeconds | undefined
  /** Later bars are the live lane, earlier ones history. */
  readonly historyEnd: FeedSeconds
  /** What windows already cover. */
  readonly covered: readonly Span[]
  /** What of it was read in this session and not stored: no window claims it. */
  readonly holes: Holes
  /** The newest bar stored or spooled before the session or sent since; what is not newer is a correction. */
  sentUntil: number
  /** Dropped or replaced: what is still under way for it ends. */
  isGone: boolean
  /** Until it was read to the end once, what closes meanwhile waits. */
  phase: 'queued' | 'reading' | 'live'
  /** What was read is no longer all there is: to be read once more. */
  readAgain: boolean
  waiting: SourceBars[]
  waitingCount: number
  /** Claims about what waits. */
  waitingClaims: Span[]
  /** A last bar that had not closed when it was given. */
  forming: { readonly bars: Bars; readonly derived: boolean } | undefined
  /** Up to here windows of its own claim it, and from here on feed-wide ones may. */
  claimedUntil: FeedSeconds | undefined
  /** The time at which it was last read to the end; what came later was given as it happened. */
  readAt: FeedSeconds | undefined
}

const waitingBarsMax = 10_000
/** Of minutes without a hole there is one. */
export const waitingClaimsMax = 100

/** Keeps bars that closed while their series is being read; more than the bound are read once more instead. */
export function keepWaiting(series: CollectedSeries, given: SourceBars): void {
  series.waiting.push(given)
  series.waitingCount += barCount(given.bars)
  if (series.waitingCount <= waitingBarsMax) return
  series.waiting = []
  series.waitingCount = 0
  series.readAgain = true
}

/** Keeps a claim about what waits; beyond the bound the oldest go, and the next session reads what they spoke for. */
export function keepClaim(series: CollectedSeries, span: Span): void {
  series.waitingClaims = joinSpans([...series.waitingClaims, span]).slice(-waitingClaimsMax)
}

/** A series at the beginning of its session. */
export const newSeries = (
  of: Pick<CollectedSeries, 'raw' | 'resolution' | 'name' | 'scale' | 'delaySeconds' | 'since'>,
  known: KnownFeed,
  now: FeedSeconds | undefined,
  /** The newest live bar of it that a spool holds. */
  spooled?: FeedSeconds,
): CollectedSeries => {
  const newest = later(known.newest(of.name, of.resolution), spooled)
  return {
    ...of,
    historyEnd: historyEndOf(newest, now),
    covered: known.covered(of.name, of.resolution, of.since, of.delaySeconds),
    holes: new Holes(of.resolution),
    sentUntil: newest ?? Number.NEGATIVE_INFINITY,
    isGone: false,
    phase: 'queued',
    readAgain: false,
    waiting: [],
    waitingCount: 0,
    waitingClaims: [],
    forming: undefined,
    claimedUntil: undefined,
    readAt: undefined,
  }
}

/**
 * The series in a new session, when everything that closed since the one before was given and kept: it
 * goes on at once. What no window covers up to now is read as history, behind the live lane.
 */
export function continueSeries(
  series: CollectedSeries,
  before: CollectedSeries,
  now: FeedSeconds,
): CollectedSeries {
  const until = closedUntil(series.resolution, now, series.delaySeconds)
  const claimedUntil = feedSeconds(Math.min(until, before.forming?.bars.time[0] ?? until))
  return {
    ...series,
    phase: 'live',
    sentUntil: Math.max(series.sentUntil, before.sentUntil),
    forming: before.forming,
    readAt: before.readAt,
    claimedUntil,
    historyEnd: feedSeconds(claimedUntil - 1),
  }
}

/** It was read to the end, beginning then. While the feed's clock was unknown: when the newest bar sent opened. */
export function noteRead(series: CollectedSeries, startedAt: FeedSeconds | undefined): void {
  const newest = Number.isFinite(series.sentUntil) ? feedSeconds(series.sentUntil) : undefined
  series.readAt = startedAt ?? newest
  if (series.readAt === undefined) return
  const until = closedUntil(series.resolution, series.readAt, series.delaySeconds)
  series.claimedUntil = feedSeconds(Math.min(until, series.forming?.bars.time[0] ?? until))
}

/** What ingest knows of a feed, by clean name and resolution; feed-wide windows under the empty name. */
export class KnownFeed {
  readonly #newest = new Map<string, FeedSeconds>()
  readonly #windows = new Map<string, Span[]>()

  constructor(series: readonly KnownSeries__Output[]) {
    for (const { symbol, resolution, newest, windows } of series) {
      const id = `${resolution} ${symbol}`
      if (newest !== undefined) this.#newest.set(id, feedSeconds(newest))
      const spans = this.#windows.get(id) ?? []
      spans.push(...decode(windows))
      this.#windows.set(id, spans)
    }
  }

  newest(name: string, r: Resolution): FeedSeconds | undefined {
    return this.#newest.get(`${r} ${name}`)
  }

  /** Feed-wide windows count from `since` on, and of a delayed symbol each ends earlier by its delay. */
  covered(name: string, r: Resolution, since: FeedSeconds | undefined, delaySeconds: number): Span[] {
    const own = this.#windows.get(`${r} ${name}`) ?? []
    if (since === undefined) return joinSpans(own)
    const wide = (this.#windows.get(`${r} `) ?? []).map(({ from, to }) => ({
      from: feedSeconds(Math.max(from, since)),
      to: feedSeconds(to - delaySeconds),
    }))
    return joinSpans([...own, ...wide])
  }
}

function decode(deltas: readonly number[]): Span[] {
  const spans: Span[] = []
  let time = 0
  for (let i = 0; i + 1 < deltas.length; i += 2) {
    const from = time + (deltas[i] as number)
    time = from + (deltas[i + 1] as number)
    spans.push({ from: feedSeconds(from), to: feedSeconds(time) })
  }
  return spans
}

/** Where the live lane begins: behind the last bar that is stored or in the spool, at most six hours back. */
function historyEndOf(newest: FeedSeconds | undefined, now: FeedSeconds | undefined): FeedSeconds {
  const reach = now === undefined ? undefined : now - liveReachSeconds
  // With neither known nothing is live but what closes from now on.
  if (newest === undefined && reach === undefined) return feedSeconds(Number.MAX_SAFE_INTEGER)
  return feedSeconds(Math.max(newest ?? 0, reach ?? 0))
}

/** What of a series' history no window covers, as far back as the feed wants it. */
export function missingHistory(series: CollectedSeries, depth: Depth | undefined, now: FeedSeconds): Span[] {
  if (depth === undefined) return []
  const start = 'since' in depth ? depth.since : now - depth.seconds
  const wanted = { from: feedSeconds(Math.max(windowFromMin, start)), to: feedSeconds(series.historyEnd + 1) }
  return subtractSpans([wanted], series.covered)
}
