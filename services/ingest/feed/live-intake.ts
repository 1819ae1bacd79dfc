import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import { type LaneDeps, type LaneState, type Receipt, TableLane, type Taken } from './table-lane.ts'

/** The live lane of one feed, over all its sessions. Each resolution has its own order. */
export class LiveIntake {
  readonly #deps: LaneDeps
  readonly #state: LaneState
  readonly #lanes = new Map<Resolution, TableLane>()

  constructor(deps: LaneDeps, state: LaneState) {
    this.#deps = deps
    this.#state = state
  }

  take(batch: readonly GoodSeries[], receipt: Receipt): readonly Taken[] {
    const tables = Map.groupBy(batch, ({ series }) => series.resolution)
    const taken = [...tables].map(([resolution, bars]) => this.#lane(resolution).take(bars, receipt))
    // An hourly bar may have opened before stored minutes, so the batch's own newest time could be older.
    if (taken.length > 0)
      this.#state.note({ receivedAt: this.#deps.clock.utcMs(), newestBar: this.#state.newestBar })
    return taken
  }

  /** Whether sessions of the feed should not be read; `resume` is called when less waits. */
  isFull(resume: () => void): boolean {
    return this.#deps.waiting.isFull(this.#state.key, resume)
  }

  /** Announces to readers, after all earlier minutes, that all minutes in `[from, to]` are complete. */
  complete(from: FeedSeconds, to: FeedSeconds): Promise<void> {
    return this.#lane('1').publishAfter({ type: 'minutes', feed: this.#state.key, from, to })
  }

  /** Announces that the store has all minutes, so that readers that lost events need not wait for more. */
  async settled(): Promise<void> {
    const { publisher, epoch, key } = this.#state
    if (this.#lane('1').isIdle) await publisher.publish({ type: 'settled', feed: key }, epoch)
  }

  get isIdle(): boolean {
    return [...this.#lanes.values()].every((lane) => lane.isIdle)
  }

  /** Resolves once nothing taken so far waits for the store. */
  async idle(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()))
  }

  #lane(resolution: Resolution): TableLane {
    const lane = this.#lanes.get(resolution) ?? new TableLane(resolution, this.#deps, this.#state)
    this.#lanes.set(resolution, lane)
    return lane
  }
}
