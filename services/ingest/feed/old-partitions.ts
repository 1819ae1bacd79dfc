import { partitionsOf } from '../../core/bars/partitions.ts'
import type { Lane } from '../../core/bars/series.ts'
import { minuteMs } from '../../core/clocks/calendar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Clock } from '../../ports/clock.ts'
import type { GoodSeries } from '../check/check-batch.ts'

/** Maximum old partitions that a feed opens in one minute, per lane; more wait. */
const oldPartitionsPerMinute = 100

const partitionMs = minuteMs / oldPartitionsPerMinute

export interface Turn {
  /** Delay until then; 0: at once. */
  readonly waitMs: number
  /** Called when the bars are not stored after all: their partitions count again when they come again. */
  readonly giveUp: () => void
}

const atOnce: Turn = { waitMs: 0, giveUp: () => undefined }

/**
 * The old partitions that a feed touched since the start of the process. A partition that the store does not have yet
 * costs every later query over it, so a feed opens new ones slowly. Each lane has its own allowance: a live bar must
 * not wait behind a backfill.
 */
export class OldPartitions {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #opened = new Set<string>()
  /** When the allowance of a lane is whole again, less one minute. */
  readonly #dueMs: Record<Lane, number> = {
    live: Number.NEGATIVE_INFINITY,
    backfill: Number.NEGATIVE_INFINITY,
  }

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Opens the partitions of these bars that ended before `now`. */
  open(batch: readonly GoodSeries[], lane: Lane, now: FeedSeconds): Turn {
    const opened: string[] = []
    for (const [id, end] of partitionsOf(batch.map(({ series, bars }) => ({ ...series, bars })))) {
      if (end > now || this.#opened.has(id)) continue
      this.#opened.add(id)
      opened.push(id)
    }
    if (opened.length === 0) return atOnce
    const nowMs = this.#clock.monotonicMs()
    const dueMs = Math.max(this.#dueMs[lane], nowMs - minuteMs)
    this.#dueMs[lane] = dueMs + opened.length * partitionMs
    return {
      waitMs: Math.max(0, dueMs - nowMs),
      giveUp: () => {
        for (const id of opened) this.#opened.delete(id)
      },
    }
  }
}
