import { type Window, windowSeriesId } from '../../../core/bars/window.ts'
import type { GoodSeries } from '../../check/check-batch.ts'
import { SessionEnd } from '../../session-end.ts'

/** Maximum bars that a session leaves unsent after they were refused. */
const refusedMax = 50_000

/**
 * Times of bars that were refused because their message touched too many partitions, and that did not come again. A
 * window over them would claim bars that nobody stored, and its collector would never send them.
 */
export class ScatteredBars {
  readonly #times = new Map<string, Set<number>>()
  #count = 0

  refused(batch: readonly GoodSeries[]): void {
    for (const { series, bars } of batch) {
      const id = windowSeriesId(series)
      const times = this.#times.get(id) ?? new Set()
      this.#times.set(id, times)
      for (const time of bars.time) {
        if (times.has(time)) continue
        times.add(time)
        this.#count += 1
      }
    }
    if (this.#count > refusedMax)
      throw new SessionEnd(
        'INVALID_ARGUMENT',
        `series: got ${this.#count} bars in messages of too many partitions, wanted them sent by time`,
      )
  }

  taken(batch: readonly GoodSeries[]): void {
    if (this.#count === 0) return
    for (const { series, bars } of batch) {
      const times = this.#times.get(windowSeriesId(series))
      for (const time of bars.time) if (times?.delete(time)) this.#count -= 1
    }
  }

  /** The time of one of these bars that the window covers; `undefined`: it covers none. */
  inside({ symbol, resolution, from, to }: Window): number | undefined {
    if (this.#count === 0) return undefined
    const ofAll = [...this.#times.keys()].filter((id) => id.startsWith(`${resolution} `))
    for (const id of symbol === undefined ? ofAll : [windowSeriesId({ symbol, resolution })])
      for (const time of this.#times.get(id) ?? []) if (time >= from && time < to) return time
    return undefined
  }
}
