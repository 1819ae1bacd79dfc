import type { Window } from '../../core/bars/window.ts'
import type { ReceivedSeries } from '../../wire/decode-bars.ts'
import type { IngestMetrics, LaneName } from '../metrics.ts'
import type { CollectorStream } from './collector-stream.ts'

/** Maximum backfill batches without an answer: at the first the collector is asked to pause, at the second it is not read. */
export const backfillBatchesSlow = 12
const backfillBatchesMax = 16
/** Maximum live batches without an answer. */
const liveBatchesMax = 64
/** Maximum windows without an answer. */
export const windowsMax = 256
const slowPauseMs = 500

/** Whether what was received must be committed before this window, which came after it, may be kept. */
export type Precedes = (window: Window) => boolean

export const precedesAll: Precedes = () => true

/** The whole feed's window of a minute speaks for its own times only: history of others is not waited for. */
export const historyPrecedes =
  (series: readonly ReceivedSeries[]): Precedes =>
  ({ symbol, resolution, from, to }) =>
    symbol !== undefined ||
    series.some(
      ({ bars, resolution: r }) =>
        r === resolution && typeof bars !== 'string' && bars.time.some((time) => time >= from && time < to),
    )

/** Windows of the whole feed stay in their order, or a minute would be complete before the one before it. */
export const windowPrecedes =
  ({ symbol }: Window): Precedes =>
  (later) =>
    symbol === undefined || later.symbol !== undefined

interface Earlier {
  readonly precedes: Precedes
  /** Never rejects. From here on no window that came after it waits for it. */
  readonly passed: Promise<unknown>
}

/** What one session received and has not answered yet; reading pauses while that is too much. */
export class InFlight {
  readonly #stream: CollectorStream
  readonly #metrics: IngestMetrics
  readonly #earlier = new Map<Promise<void>, Earlier>()
  readonly #counts = { live: 0, backfill: 0, import: 0, windows: 0 }
  #hasFailed = false

  constructor(stream: CollectorStream, metrics: IngestMetrics) {
    this.#stream = stream
    this.#metrics = metrics
  }

  /** Something could not be answered; the session ends. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** So much waits for the store that no more should be read. */
  get isFull(): boolean {
    const { live, windows } = this.#counts
    return live >= liveBatchesMax || this.#backfill >= backfillBatchesMax || windows >= windowsMax
  }

  get #backfill(): number {
    return this.#counts.backfill + this.#counts.import
  }

  /** `passed`: when later windows need not wait for it any more; by default once it was answered. */
  track(
    kind: LaneName | 'windows',
    work: Promise<unknown>,
    precedes: Precedes,
    passed?: Promise<unknown>,
  ): void {
    this.#count(kind, 1)
    const tracked = work
      .then(() => undefined, this.#fail)
      .finally(() => {
        this.#earlier.delete(tracked)
        this.#count(kind, -1)
        this.#stream.throttle(this.isFull)
      })
    this.#earlier.set(tracked, { precedes, passed: passed ?? tracked })
  }

  /** Asks the collector to pause when backfill reaches its first bound. */
  askToPause(): void {
    if (this.#backfill === backfillBatchesSlow) this.#stream.send({ slow: { pauseMs: slowPauseMs } })
  }

  /** Resolves, never rejects, when all that must be committed before the window is, or failed. */
  async before(window: Window): Promise<void> {
    const all = [...this.#earlier.values()].filter(({ precedes }) => precedes(window))
    await Promise.all(all.map(({ passed }) => passed))
  }

  /** Resolves when everything is answered, or cannot be. */
  async settle(): Promise<void> {
    while (this.#earlier.size > 0) await Promise.all(this.#earlier.keys())
  }

  #count(kind: LaneName | 'windows', by: 1 | -1): void {
    this.#counts[kind] += by
    if (kind !== 'windows') this.#metrics.queued(kind, by)
  }

  #fail = (cause: unknown): void => {
    this.#hasFailed = true
    this.#stream.fail(cause)
  }
}
