import type { Window } from '../../../core/bars/window.ts'
import { TableOutOfOrder } from '../../../core/failure.ts'
import type { ReceivedSeries } from '../../../wire/decode-bars.ts'
import type { IngestMetrics, LaneName } from '../../metrics.ts'
import type { CollectorStream } from '../stream/collector-stream.ts'
import { ScatteredBars } from './scattered-bars.ts'

/** Unacknowledged backfill batches at which the collector is asked to pause. */
export const backfillBatchesSlow = 12
/** Maximum unacknowledged backfill batches; at it reading pauses. */
const backfillBatchesMax = 16
/** Maximum unacknowledged live batches; at it reading pauses. */
const liveBatchesMax = 64
/**
 * Maximum refusals of unacknowledged batches; at it reading pauses. Batches are checked on receipt, and each refusal
 * has its own text: 64 batches of a broken clock would take more memory than all their bars.
 */
const refusalsMax = 5_000
/** Maximum unacknowledged windows; at it reading pauses. */
export const windowsMax = 256
/** Length of the pause that a collector is asked for. */
const slowPauseMs = 500

/** Whether an earlier message must be committed before this later window may be stored. */
export type Precedes = (window: Window) => boolean

export const precedesAll: Precedes = () => true

/** A feed-wide window covers its own times only, so it does not wait for history of other times. */
export const historyPrecedes =
  (series: readonly ReceivedSeries[]): Precedes =>
  ({ symbol, resolution, from, to }) =>
    symbol !== undefined ||
    series.some(
      ({ bars, resolution: r }) =>
        r === resolution && typeof bars !== 'string' && bars.time.some((time) => time >= from && time < to),
    )

/** Feed-wide windows stay in order: a minute must not be complete before the minute before it. */
export const windowPrecedes =
  ({ symbol }: Window): Precedes =>
  (later) =>
    symbol === undefined || later.symbol !== undefined

export interface Work {
  /** Number of refusals that wait for the answer; default: none. */
  readonly refusals?: number
  /** Resolves with the answer: the message counts towards the bounds until then. */
  readonly answered: Promise<unknown>
  /** Resolves once no work of the message is in flight; default: `answered`. */
  readonly done?: Promise<unknown>
  /** After it, later windows do not wait for this message; by default once it is done. */
  readonly passed?: Promise<unknown>
}

interface Tracked {
  readonly precedes: Precedes
  /** Never rejects. After it no later window waits for this message. */
  readonly passed: Promise<unknown>
}

/** The messages of one session without an answer. Reading pauses while there are too many. */
export class InFlight {
  readonly #stream: CollectorStream
  readonly #metrics: IngestMetrics
  /** Bars that the collector has to send again. */
  readonly scattered = new ScatteredBars()
  readonly #tracked = new Map<Promise<void>, Tracked>()
  readonly #counts = { live: 0, backfill: 0, import: 0, windows: 0 }
  #refusals = 0
  #hasFailed = false
  #outOfOrder: TableOutOfOrder | undefined

  constructor(stream: CollectorStream, metrics: IngestMetrics) {
    this.#stream = stream
    this.#metrics = metrics
  }

  /** True when a message could not be committed; the session ends. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /**
   * Set when a message got no answer, because it has bars of a table out of order. The session goes on for other
   * tables; the collector sends the message again in the session after the table was repaired.
   */
  get outOfOrder(): TableOutOfOrder | undefined {
    return this.#outOfOrder
  }

  /** True while a bound is reached: reading should pause. */
  get isFull(): boolean {
    const { live, windows } = this.#counts
    if (live >= liveBatchesMax || this.#backfill >= backfillBatchesMax) return true
    return windows >= windowsMax || this.#refusals >= refusalsMax
  }

  get #backfill(): number {
    return this.#counts.backfill + this.#counts.import
  }

  track(kind: LaneName | 'windows', work: Work, precedes: Precedes): void {
    const { answered, done = answered, passed, refusals = 0 } = work
    this.#count(kind, 1)
    this.#refusals += refusals
    const counted = answered
      .catch(() => undefined)
      .finally(() => {
        this.#count(kind, -1)
        this.#refusals -= refusals
        this.#stream.throttle(this.isFull)
      })
    const tracked = Promise.allSettled([counted, done])
      .then(() => Promise.all([answered, done]))
      .then(
        () => undefined,
        (cause: unknown) => this.#fail(kind, cause),
      )
      .finally(() => this.#tracked.delete(tracked))
    this.#tracked.set(tracked, { precedes, passed: passed ?? tracked })
    this.#stream.throttle(this.isFull)
  }

  /** Asks the collector to pause when unacknowledged backfill has just reached its lower bound. */
  askToPause(): void {
    if (this.#backfill === backfillBatchesSlow) this.#stream.send({ slow: { pauseMs: slowPauseMs } })
  }

  /** Resolves when everything that precedes the window is committed or has failed. Never rejects. */
  async before(window: Window): Promise<void> {
    const all = [...this.#tracked.values()].filter(({ precedes }) => precedes(window))
    await Promise.all(all.map(({ passed }) => passed))
  }

  /** Resolves when nothing of any message is in flight. */
  async settle(): Promise<void> {
    while (this.#tracked.size > 0) await Promise.all(this.#tracked.keys())
  }

  #count(kind: LaneName | 'windows', by: 1 | -1): void {
    this.#counts[kind] += by
    if (kind !== 'windows') this.#metrics.queued(kind, by)
  }

  #fail(kind: LaneName | 'windows', cause: unknown): void {
    // A person waits for the end of an import.
    if (cause instanceof TableOutOfOrder && kind !== 'import') {
      this.#outOfOrder = cause
      return
    }
    this.#hasFailed = true
    this.#stream.fail(cause)
  }
}
