import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { markStage } from '../../platform/stages.ts'
import type { Clock } from '../../ports/clock.ts'
import { Burst } from './burst.ts'
import type { Frames } from './frame.ts'
import { Gathering } from './gathering.ts'
import type { Subscriptions } from './subscriptions.ts'
import type { SymbolId } from './symbol-table.ts'

/** Maximum sockets written to in one turn of the event loop. */
const socketsPerSlice = 500
/** Sockets written to per millisecond. A burst first waits for more frames: 1 ms for this many open sockets. */
const socketsPerWaitMs = 31
/** Maximum time that the first frame of a burst waits for others. */
export const burstWaitMsMax = 10

/** Writes frames to the socket of the row. Returns whether all bytes left immediately, so that their memory is free. */
type Deliver = (row: number, frames: Buffer) => boolean

/**
 * Writes frames to sockets. All frames that arrive in one turn of the event loop are one burst. With many open
 * sockets a burst waits some milliseconds for other feeds: a second burst would cost each socket another write.
 * Every socket gets one write per burst. Each burst starts at another socket, so that none is always last. Frames
 * that arrive during a burst belong to the next one.
 */
export class FanOut {
  readonly #clock: Clock
  readonly #subscriptions: Subscriptions
  readonly #deliver: Deliver
  readonly #onBurst: (ms: number) => void
  #running = new Burst()
  #waiting = new Burst()
  #scheduled = false
  /** Rows of the running burst; a row that is opened later has no subscriptions until `flush`. */
  #rows = 0
  #first = 0
  #served = 0
  #written: PromiseWithResolvers<void> | undefined
  readonly #gathering: Gathering

  /** `onBurst` receives the milliseconds from the first frame of a burst to its last write. */
  constructor(clock: Clock, subscriptions: Subscriptions, deliver: Deliver, onBurst: (ms: number) => void) {
    this.#clock = clock
    this.#subscriptions = subscriptions
    this.#gathering = new Gathering(subscriptions.matrix)
    this.#deliver = deliver
    this.#onBurst = onBurst
  }

  /** For sockets that get each bar in a frame of its own. */
  push(symbol: SymbolId, frames: Frames): void {
    this.#arrive().add(symbol, frames)
  }

  /** For sockets that get many bars in a frame: the entry of a bar, of this feed and time. */
  pushEntry(symbol: SymbolId, feed: FeedKey, time: FeedSeconds, entry: Frames): void {
    this.#arrive().addEntry(symbol, feed, time, entry)
  }

  /** Whether a frame of the symbol is not yet written to all its sockets. */
  has(symbol: SymbolId): boolean {
    return this.#running.has(symbol) || this.#waiting.has(symbol)
  }

  /** Resolves once all frames are written; `undefined` if none waits. */
  written(): Promise<void> | undefined {
    if (this.#running.empty && this.#waiting.empty) return undefined
    this.#written ??= Promise.withResolvers<void>()
    return this.#written.promise
  }

  /** Must be called before any subscription changes: a bar goes to the sockets that were subscribed when it arrived. */
  flush(): void {
    while (!this.#running.empty || !this.#waiting.empty) this.#serve(Number.POSITIVE_INFINITY)
  }

  #arrive(): Burst {
    if (this.#waiting.empty) this.#waiting.since = this.#clock.monotonicMs()
    this.#schedule()
    return this.#waiting
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    const run = (): void => {
      this.#scheduled = false
      this.#serve(socketsPerSlice)
      if (!this.#running.empty || !this.#waiting.empty) this.#schedule()
    }
    const waitMs = this.#running.empty ? this.#waitMs() : 0
    if (waitMs > 0) this.#clock.after(waitMs, run)
    else this.#clock.soon(run)
  }

  /** How long the waiting burst still waits; a timer has whole milliseconds. */
  #waitMs(): number {
    const sinceMs = this.#clock.monotonicMs() - this.#waiting.since
    return Math.floor(Math.min(burstWaitMsMax, this.#subscriptions.openRows / socketsPerWaitMs) - sinceMs)
  }

  #serve(rowsMax: number): void {
    if (this.#running.empty) this.#begin()
    if (this.#running.empty) return
    const end = Math.min(this.#rows, this.#served + rowsMax)
    while (this.#served < end) this.#write((this.#first + this.#served++) % this.#rows)
    // A write that ends a socket may have written the rest already.
    if (this.#served < this.#rows || this.#running.empty) return
    this.#running.clear()
    this.#onBurst(this.#clock.monotonicMs() - this.#running.since)
    markStage('written')
    if (!this.#waiting.empty) return
    this.#written?.resolve()
    this.#written = undefined
  }

  #write(row: number): void {
    const isJoined = this.#subscriptions.formats.of(row) === 'rows'
    const gathering = this.#gathering
    const frames = isJoined ? gathering.joined(row, this.#running) : gathering.single(row, this.#running)
    if (frames && this.#deliver(row, frames)) gathering.release(frames)
  }

  #begin(): void {
    const burst = this.#waiting
    this.#waiting = this.#running
    this.#running = burst
    if (!burst.empty) markStage('writing')
    burst.seal()
    this.#gathering.begin(burst)
    this.#rows = this.#subscriptions.matrix.rows
    this.#served = 0
    // This prime shares no factor with most socket counts, so that every socket comes first at some time.
    this.#first = (this.#first + 7_919) % Math.max(1, this.#rows)
  }
}
