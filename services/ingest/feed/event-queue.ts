import type { BusEvent, LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import type { IngestMetrics } from '../metrics.ts'

/** Maximum bars that wait while the bus is unavailable: an hour of 1,622 symbols, as in the tail of a reader. */
export const queuedBarsMax = 100_000
/** Maximum age of the oldest waiting event: the retention of the bus. */
export const queuedMs = 30 * 60_000

/** Events that are published in order. `revised` needs no order: revisions decide which value is newer. */
export type OrderedEvent = Exclude<BusEvent, { type: 'revised' | 'registry' }>

export interface QueuedEvent {
  readonly event: OrderedEvent
  readonly bars: LiveBar[]
  readonly epoch: number
  readonly sinceMs: number
  readonly published: PromiseWithResolvers<number | undefined>
  isSent: boolean
  /** The publishers were told that the bus is unavailable. */
  isLate: boolean
}

interface EventQueueDeps {
  readonly clock: Clock
  readonly metrics: IngestMetrics
}

/** The events of one feed that wait for the bus, in order. */
export class EventQueue {
  readonly #deps: EventQueueDeps
  #events: QueuedEvent[] = []
  #bars = 0

  constructor(deps: EventQueueDeps) {
    this.#deps = deps
  }

  get first(): QueuedEvent | undefined {
    return this.#events[0]
  }

  get isOverBound(): boolean {
    // A dropped `settled` is no loss: a later one says the same.
    const oldest = this.#events.find(({ event }) => event.type !== 'settled')
    const age = oldest ? this.#deps.clock.monotonicMs() - oldest.sinceMs : 0
    return this.#bars > queuedBarsMax || age > queuedMs
  }

  /** Bars that wait share an event: with a round trip per batch, the last batch of a minute would be late. */
  add(event: OrderedEvent, epoch: number, isLate: boolean): Promise<number | undefined> {
    const bars = event.type === 'bars' ? event.bars : []
    const last = this.#events.at(-1)
    const isOpen = last?.event.type === event.type && last.epoch === epoch && !last.isSent
    const fits = bars.length > 0 && (last?.bars.length ?? 0) + bars.length <= batchBarsMax
    const joins = isOpen && (fits || event.type === 'settled')
    const queued = joins ? last : this.#append(event, epoch, isLate)
    for (const bar of bars) queued.bars.push(bar)
    this.#count(joins ? bars.length : sizeOf(queued))
    const count = queued.bars.length
    return queued.published.promise.then((position) =>
      position === undefined || queued.bars.length === count ? position : position - 1,
    )
  }

  /** Nobody waits for these events any longer. `applied` is not kept: `settled` says the same later. */
  release(): void {
    for (const each of this.#events) {
      each.isLate = true
      each.published.resolve(undefined)
    }
    this.remove(({ event }) => event.type === 'applied')
  }

  removeFirst(): void {
    const first = this.#events.shift()
    if (first) this.#count(-sizeOf(first))
  }

  /** Returns the number of bars that are removed. */
  remove(isRemoved: (each: QueuedEvent) => boolean): number {
    const before = this.#bars
    this.#events = this.#events.filter((each) => !isRemoved(each))
    this.#count(this.#events.reduce((sum, each) => sum + sizeOf(each), 0) - before)
    return before - this.#bars
  }

  #append(event: OrderedEvent, epoch: number, isLate: boolean): QueuedEvent {
    const bars: LiveBar[] = []
    const queued: QueuedEvent = {
      event: event.type === 'bars' ? { ...event, bars } : event,
      bars,
      epoch,
      sinceMs: this.#deps.clock.monotonicMs(),
      published: Promise.withResolvers(),
      isSent: false,
      isLate,
    }
    if (isLate) queued.published.resolve(undefined)
    this.#events.push(queued)
    return queued
  }

  #count(bars: number): void {
    this.#bars += bars
    this.#deps.metrics.backlog(bars)
  }
}

/** An event without bars counts as one. */
const sizeOf = ({ bars }: QueuedEvent): number => Math.max(1, bars.length)
