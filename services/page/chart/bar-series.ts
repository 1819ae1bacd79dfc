import type { Bar, Resolution } from '../../../clients/typescript/src/types.ts'
import { openOf } from './resolutions.ts'

/** The bars of a chart in ascending order, on the clock of the feed. Live minutes are folded into the last bar. */
export class BarSeries {
  readonly resolution: Resolution
  #bars: Bar[] = []
  /** Open time of the newest bar that history gave. Minutes before its end are part of it. */
  #closedTo = Number.NEGATIVE_INFINITY

  constructor(resolution: Resolution) {
    this.resolution = resolution
  }

  get bars(): readonly Bar[] {
    return this.#bars
  }

  get first(): Bar | undefined {
    return this.#bars[0]
  }

  get last(): Bar | undefined {
    return this.#bars.at(-1)
  }

  /** Whether the last bar is folded from minutes, and may get more of them. */
  get isRunning(): boolean {
    return this.resolution !== '1' && this.last !== undefined && this.last.time > this.#closedTo
  }

  clear(): void {
    this.#bars = []
    this.#closedTo = Number.NEGATIVE_INFINITY
  }

  /** Adds bars of history, in ascending order. They replace folded ones with the same time. */
  merge(bars: readonly Bar[]): void {
    const [first, last] = [bars[0], bars.at(-1)]
    if (!first || !last) return
    this.#closedTo = Math.max(this.#closedTo, last.time)
    const own = this.#bars
    if (last.time < (this.first?.time ?? Number.POSITIVE_INFINITY)) this.#bars = [...bars, ...own]
    else if (first.time > (this.last?.time ?? Number.POSITIVE_INFINITY)) this.#bars = [...own, ...bars]
    else {
      const byTime = new Map([...own, ...bars].map((bar) => [bar.time, bar]))
      this.#bars = [...byTime.values()].toSorted((a, b) => a.time - b.time)
    }
  }

  /** Folds a closed minute into the running bar. Returns whether a bar began. */
  add({ time: minute, ...values }: Bar): boolean {
    const { last } = this
    const time = openOf(this.resolution, minute, this.#bars[0]?.time)
    if (time <= this.#closedTo) return false
    if (last === undefined || time > last.time) {
      this.#bars.push({ time, ...values })
      return true
    }
    if (time < last.time) return false
    this.#bars[this.#bars.length - 1] = {
      time,
      open: last.open,
      high: Math.max(last.high, values.high),
      low: Math.min(last.low, values.low),
      close: values.close,
      volume: last.volume + values.volume,
    }
    return false
  }
}
