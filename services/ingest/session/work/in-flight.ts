import type { Window } from '../../../core/bars/window.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { ReceivedSeries } from '../../../wire/decode-bars.ts'
import type { IngestMetrics, LaneName } from '../../metrics.ts'
import type { CollectorStream } from '../stream/collector-stream.ts'
import { ScatteredBars } from './scattered-bars.ts'

/** Unacknowledged backfill batches at which the collector is asked to pause. */
export const backfillBatchesSlow = 12
/** Maximum unacknowledged backfill batches; at it reading pauses. */
const backfillBatchesMax = 16
/**
 * Maximum refusals of unacknowledged batches; at it reading pauses. Batches are checked on receipt, and each refusal
 * has its own text: the batches of a broken clock would take more memory than all their bars.
 */
const refusalsMax = 5_000
/** Maximum unacknowledged windows; at it reading pauses. */
export const windowsMax = 256
const slowPauseMs = 500

/** A message that must be stored before a later window that covers it. */
export interface Barrier {
  readonly precedes: (window: Window) => boolean
  /** Resolves when the window may be stored; a failure ends the session. */
  readonly passed: Promise<unknown>
}

/** A window waits for the live bars of its own resolution. */
export const livePrecedes =
  (resolution: Resolution): Barrier['precedes'] =>
  (window) =>
    window.resolution === resolution

/** A feed-wide window covers its own times only, so it does not wait for history of other times. */
export const historyPrecedes =
  (series: readonly ReceivedSeries[]): Barrier['precedes'] =>
  ({ symbol, resolution, from, to }) =>
    series.some(
      ({ bars, resolution: r }) =>
        r === resolution &&
        typeof bars !== 'string' &&
        (symbol !== undefined || bars.time.some((time) => time >= from && time < to)),
    )

/** Feed-wide windows of a resolution stay in order: a minute must not be complete before the minute before it. */
export const windowPrecedes =
  ({ symbol, resolution }: Window): Barrier['precedes'] =>
  (later) =>
    later.resolution === resolution && (symbol === undefined || later.symbol !== undefined)

export interface Work {
  /** Number of refusals that wait for the answer; default: none. */
  readonly refusals?: number
  /** Resolves with the answer: the message counts towards the bounds until then. */
  readonly answered: Promise<unknown>
  readonly barriers: readonly Barrier[]
}

export interface InFlightDeps {
  readonly stream: Pick<CollectorStream, 'send' | 'fail'>
  readonly metrics: IngestMetrics
  readonly throttle: () => void
}

/** The messages of one session without an answer. Reading pauses while there are too many. */
export class InFlight {
  readonly #deps: InFlightDeps
  /** Bars that the collector has to send again. */
  readonly scattered = new ScatteredBars()
  readonly #barriers = new Set<Barrier>()
  /** Answers and barriers that have not settled; they never reject. */
  readonly #open = new Set<Promise<void>>()
  readonly #counts = { live: 0, backfill: 0, import: 0, windows: 0 }
  #refusals = 0
  #hasFailed = false

  constructor(deps: InFlightDeps) {
    this.#deps = deps
  }

  /** True when a message could not be committed; the session ends. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  get isFull(): boolean {
    const { windows } = this.#counts
    return this.#backfill >= backfillBatchesMax || windows >= windowsMax || this.#refusals >= refusalsMax
  }

  get #backfill(): number {
    return this.#counts.backfill + this.#counts.import
  }

  track(kind: LaneName | 'windows', { answered, barriers, refusals = 0 }: Work): void {
    this.#count(kind, 1)
    this.#refusals += refusals
    this.#watch(answered, () => {
      this.#count(kind, -1)
      this.#refusals -= refusals
      this.#deps.throttle()
    })
    for (const barrier of barriers) {
      this.#barriers.add(barrier)
      this.#watch(barrier.passed, () => this.#barriers.delete(barrier))
    }
    this.#deps.throttle()
  }

  /** Asks the collector to pause when unacknowledged backfill has just reached its lower bound. */
  askToPause(): void {
    if (this.#backfill === backfillBatchesSlow) this.#deps.stream.send({ slow: { pauseMs: slowPauseMs } })
  }

  /** Resolves when everything that precedes the window is committed or has failed. Never rejects. */
  async before(window: Window): Promise<void> {
    const all = [...this.#barriers].filter(({ precedes }) => precedes(window))
    await Promise.allSettled(all.map(({ passed }) => passed))
  }

  async settle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  #watch(work: Promise<unknown>, ended: () => void): void {
    const failed = (cause: unknown): void => {
      this.#hasFailed = true
      this.#deps.stream.fail(cause)
    }
    const open = work.catch(failed).then(() => {
      this.#open.delete(open)
      ended()
    })
    this.#open.add(open)
  }

  #count(kind: LaneName | 'windows', by: 1 | -1): void {
    this.#counts[kind] += by
    if (kind !== 'windows') this.#deps.metrics.queued(kind, by)
  }
}
