import type { BusEvent } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IngestMetrics } from '../metrics.ts'

/** An hour of 1,622 symbols: what the tail of a reader holds. */
export const backlogBarsMax = 100_000
/** As long as the bus itself keeps events. */
export const backlogAgeMs = 30 * 60_000
/** Events without bars count too. */
const eventBars = 1

interface Waiting {
  readonly event: BusEvent
  readonly epoch: number
  readonly bars: number
  readonly sinceMs: number
}

/** Events of one feed that wait for the bus, in their order. */
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

  /** False when there is no room. What the store shows is said again, later: it is not kept. */
  keep(event: BusEvent, epoch: number): boolean {
    if (event.type === 'applied' || event.type === 'settled') return true
    const bars = event.type === 'bars' ? event.bars.length : eventBars
    if (this.#bars + bars > backlogBarsMax) return false
    this.#waiting.push({ event, epoch, bars, sinceMs: this.#clock.monotonicMs() })
    this.#count(bars)
    return true
  }

  /** The first one, which is on the bus now. */
  remove(first: Waiting): void {
    if (this.#waiting[0] !== first) return
    this.#waiting.shift()
    this.#count(-first.bars)
  }

  /** Those of publishers that may publish no more. */
  removeUpTo(epoch: number): void {
    const rest = this.#waiting.filter((each) => each.epoch > epoch)
    this.#count(rest.reduce((sum, { bars }) => sum + bars, 0) - this.#bars)
    this.#waiting = rest
  }

  /** At the bound. */
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
