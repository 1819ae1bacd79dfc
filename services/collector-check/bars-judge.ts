import { barAt, barCount, type RevisedBar, timeAt } from '../core/bars/bar.ts'
import type { Span } from '../core/bars/window.ts'
import { clockStepSecondsMin } from '../core/clocks/feed-clock.ts'
import type { Clock } from '../ports/clock.ts'
import type { ReceivedBars, ReceivedSeries } from '../wire/decode-bars.ts'
import type { Known__Output } from '../wire/gen/fxd/v1/Known.ts'
import { decodeWindows } from '../wire/window-times.ts'
import type { Findings } from './findings.ts'
import { countOf, isEqualBar, nameOf, type UnackedBars } from './unacked-bars.ts'

/** The bound that the check tells. It is lower than that of ingest, so that less data reaches it. */
export const unackedBarsMax = 5_000
/** Batches at which a collector must stop; ingest then sends Slow. */
const backfillBatchesMax = 12

/** Smaller revisions mark derived bars, which nobody read. */
const readRevisionMin = 1e9
/** A live bar that was read longer ago waited in the collector. */
const readAgoMsMax = 3_000
/** Messages that were in flight when Slow was sent come within this time. */
const slowGraceMs = 300
/** Maximum bars of history that a collector may send again without need. */
const repeatedBarsMax = 100

export interface BarsJudgeDeps {
  /** The clock of ingest. */
  readonly clock: Clock
  readonly findings: Findings
  readonly unacked: UnackedBars
  /** The newest live bar of each series, over all sessions. */
  readonly newest: Map<string, RevisedBar>
  /** When Acks began to be withheld in this session, by the clock of ingest; `undefined` before that. */
  readonly heldMs: () => number | undefined
}

/** Judges the bars of one session. */
export class BarsJudge {
  readonly #deps: BarsJudgeDeps
  readonly #welcomeMs: number
  readonly #liveTimes = new Map<string, number>()
  readonly #known = new Map<string, Span[]>()
  #history = 0
  #repeated = 0
  #liveMax = 0
  #slow: { readonly fromMs: number; readonly toMs: number } | undefined
  /** Live messages with new bars in this session, and those of them that were sent while Acks were withheld. */
  newLive = 0
  newLiveWhileHeld = 0
  /** Bars that were refused for their revision and came again in this session. */
  hasReturnedRefused = false
  /** The shortest time from the reading of a new live bar until it came. */
  readAgoMsMin = Number.POSITIVE_INFINITY

  constructor(deps: BarsJudgeDeps, welcomeMs: number) {
    this.#deps = deps
    this.#welcomeMs = welcomeMs
  }

  get hasKnown(): boolean {
    return this.#known.size > 0
  }

  known({ series }: Known__Output): void {
    for (const { symbol, resolution, windows } of series) {
      if (windows.length === 0) continue
      const name = nameOf({ symbol, resolution })
      this.#known.set(name, [...(this.#known.get(name) ?? []), ...decodeWindows(windows)])
    }
  }

  slow(pauseMs: number): void {
    const now = this.#deps.clock.monotonicMs()
    this.#slow = { fromMs: now + slowGraceMs, toMs: now + pauseMs }
  }

  /** `isHeld`: Acks are withheld. `isSettled`: the session is older than what waited in the collector before it. */
  take(message: ReceivedBars, at: { readonly isHeld: boolean; readonly isSettled: boolean }): void {
    const { findings, unacked } = this.#deps
    const { isNew, wasRefused } = unacked.take(message, this.#welcomeMs, (what) =>
      findings.wrong('resend', what),
    )
    if (!isNew) findings.seen('resend')
    if (wasRefused) this.hasReturnedRefused = true
    findings.seen('bars')
    this.#judgeBounds(at.isHeld)
    if (message.lane === 'live') this.#takeLive(message, isNew, at)
    else this.#takeHistory(message, isNew)
  }

  #judgeBounds(isHeld: boolean): void {
    const { findings, unacked } = this.#deps
    if (isHeld) findings.seen('bounds')
    const { live, backfillBatches } = unacked
    this.#liveMax = Math.max(this.#liveMax, live)
    if (live > unackedBarsMax)
      findings.wrong(
        'bounds',
        `${live} live bars had no Ack, each message counted as at least 10; Welcome.unacked_bars_max was ${unackedBarsMax}`,
      )
    if (backfillBatches >= backfillBatchesMax)
      findings.wrong(
        'bounds',
        `${backfillBatches} BACKFILL messages had no Ack; stay below ${backfillBatchesMax}`,
      )
  }

  #takeLive(message: ReceivedBars, isNew: boolean, at: { isHeld: boolean; isSettled: boolean }): void {
    const { findings } = this.#deps
    for (const series of message.series) this.#judgeOrder(series)
    findings.seen('order', 'closed')
    if (!isNew) return
    this.newLive += 1
    if (at.isHeld) this.newLiveWhileHeld += 1
    if (this.newLiveWhileHeld > 1) findings.seen('live')
    const readMs = newestRevision(message)
    if (readMs === undefined) return
    const agoMs = this.#deps.clock.utcMs() - readMs
    if (at.isSettled) this.readAgoMsMin = Math.min(this.readAgoMsMin, agoMs)
    const heldMs = this.#deps.heldMs() ?? Number.POSITIVE_INFINITY
    if (readMs >= heldMs && agoMs > readAgoMsMax && 2 * this.#liveMax < unackedBarsMax)
      findings.wrong(
        'live',
        `a live bar came ${seconds(agoMs)} s after it was read, since Acks were withheld`,
      )
  }

  #judgeOrder(series: ReceivedSeries): void {
    const { bars } = series
    if (typeof bars === 'string' || barCount(bars) === 0) return
    const { findings, newest } = this.#deps
    const name = nameOf(series)
    const first = timeAt(bars, 0)
    const before = this.#liveTimes.get(name) ?? Number.NEGATIVE_INFINITY
    if (first < before && before - first < clockStepSecondsMin)
      findings.wrong('order', `${name}: the live bar ${first} came after ${before}`)
    const last = barAt(bars, barCount(bars) - 1)
    const same = newest.get(name)
    if (same !== undefined && first === same.time && !isEqualBar(barAt(bars, 0), same))
      findings.wrong(
        'closed',
        `${name}: the bar ${first} came twice on the live lane, with different values; send it once it is closed, and corrections on the backfill lane`,
      )
    this.#liveTimes.set(name, last.time)
    if (same === undefined || last.time >= same.time) newest.set(name, last)
  }

  #takeHistory(message: ReceivedBars, isNew: boolean): void {
    const { findings, clock } = this.#deps
    const now = clock.monotonicMs()
    if (this.#slow && now > this.#slow.fromMs) {
      findings.seen('slow')
      const leftMs = Math.round(this.#slow.toMs - now)
      if (leftMs > 0)
        findings.wrong('slow', `a BACKFILL message came ${leftMs} ms before the pause of Slow was over`)
    }
    if (!isNew || !this.hasKnown) return
    this.#history += countOf(message)
    for (const series of message.series) this.#repeated += this.#countKnown(series)
    if (this.#repeated > repeatedBarsMax && 2 * this.#repeated > this.#history)
      findings.wrong(
        'known',
        `${this.#repeated} of ${this.#history} bars of history in one session were in windows that Known had listed`,
      )
  }

  #countKnown({ symbol, resolution, bars }: ReceivedSeries): number {
    const spans = ['', symbol].flatMap((of) => this.#known.get(nameOf({ symbol: of, resolution })) ?? [])
    if (typeof bars === 'string') return 0
    return bars.time.filter((time) => spans.some(({ from, to }) => time >= from && time < to)).length
  }
}

const seconds = (ms: number): number => Math.round(ms / 1_000)

/** The newest revision of a message; `undefined` if no bar of it was read from a terminal. */
function newestRevision({ series }: ReceivedBars): number | undefined {
  let newest = 0
  for (const { bars } of series)
    if (typeof bars !== 'string') for (const revision of bars.revision) newest = Math.max(newest, revision)
  return newest < readRevisionMin ? undefined : newest
}
