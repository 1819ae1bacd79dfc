import type { BusEvent } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IngestMetrics } from '../metrics.ts'

/** Maximum bars in the backlog: an hour of 1,622 symbols, as in the tail of a reader. */
export const backlogBarsMax = 100_000
/** Maximum age of the oldest event in the backlog: the retention of the bus. */
export const backlogAgeMs = 30 * 60_000
/** Bars that an event without bars counts as. */
const eventBars = 1

interface Waiting {
  readonly event: BusEvent
  readonly epoch: number
  readonly bars: number
  readonly sinceMs: number
}

/** The events of one feed that wait for an unavailable bus, in order. */
export class Backlog {
  readonly #clock: Clock
  readonly #metrics: IngestMetrics
  #waiting: Waiting[] = []
  #bars = 0

  constructor(clock: Clock, metrics: IngestMetrics) {
    this.#clock = clock
    this.#metrics = metrics
  }

  get first(): Waiting | undefined {
    return this.#waiting[0]
  }

  get isTooOld(): boolean {
    return this.first !== undefined && this.#clock.monotonicMs() - this.first.sinceMs > backlogAgeMs
  }

  /** Adds an event; false if the backlog is full. `applied` and `settled` are not kept: they are repeated later. */
  keep(event: BusEvent, epoch: number): boolean {
    if (event.type === 'applied' || event.type === 'settled') return true
    const bars = event.type === 'bars' ? event.bars.length : eventBars
    if (this.#bars + bars > backlogBarsMax) return false
    this.#waiting.push({ event, epoch, bars, sinceMs: this.#clock.monotonicMs() })
    this.#count(bars)
    return true
  }

  /** Removes the first event once it is published. */
  remove(first: Waiting): void {
    if (this.#waiting[0] !== first) return
    this.#waiting.shift()
    this.#count(-first.bars)
  }

  /** Removes the events of publishers up to this epoch: they may no longer publish. */
  removeUpTo(epoch: number): void {
    const rest = this.#waiting.filter((each) => each.epoch > epoch)
    this.#count(rest.reduce((sum, { bars }) => sum + bars, 0) - this.#bars)
    this.#waiting = rest
  }

  /** Drops all events when the backlog is full or too old, and counts their bars. */
  drop(): void {
    this.#metrics.droppedFromBacklog(this.#bars)
    this.clear()
  }

  clear(): void {
    this.#count(-this.#bars)
    this.#waiting = []
  }

  #count(bars: number): void {
    this.#bars += bars
    this.#metrics.backlog(bars)
  }
}
