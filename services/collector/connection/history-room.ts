import type { Resolution } from '../../core/feeds/resolution.ts'
import { Semaphore } from '../../platform/semaphore.ts'

/** Maximum unacknowledged history of one resolution. Ingest may process it before a live bar, in a few milliseconds. */
const barsMax = 4_000
export const backfillMessagesMax = 8
/** A small message counts as more bars, so that the number of messages is bounded, too. */
const barsPerMessageMin = barsMax / backfillMessagesMax
/** Maximum over all resolutions: 11 messages, below the number at which ingest requests a pause or stops reading. */
const allBarsMax = 11 * barsPerMessageMin

/** Bounds the unacknowledged history of one session. A resolution whose table fails leaves room for the others. */
export class HistoryRoom {
  readonly #signal: AbortSignal
  readonly #all: Semaphore
  readonly #own = new Map<Resolution, Semaphore>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    this.#all = new Semaphore(allBarsMax, signal)
  }

  /** Waits for room for one message, then for `clear`. Returns the function that frees the room. */
  async enter(resolution: Resolution, count: number, clear?: () => Promise<void>): Promise<() => void> {
    const own = this.#own.get(resolution) ?? new Semaphore(barsMax, this.#signal)
    this.#own.set(resolution, own)
    const weight = Math.max(count, barsPerMessageMin)
    await own.enter(weight)
    try {
      await clear?.()
      await this.#all.enter(weight)
    } catch (cause) {
      own.leave(weight)
      throw cause
    }
    return () => {
      own.leave(weight)
      this.#all.leave(weight)
    }
  }
}
