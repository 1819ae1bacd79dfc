import type { Clock } from '../../ports/clock.ts'
import type { BitMatrix } from './bit-matrix.ts'
import { Burst } from './burst.ts'
import type { Frames } from './frame.ts'

/** Sockets written to before other work of the process gets its turn. */
const socketsPerSlice = 500

/**
 * Brings ready frames to sockets: what arrives in one turn of the loop is one burst, and every socket
 * gets one write per burst. The burst goes round from another socket each time, so that none is always
 * last; what arrives while it goes round waits for the next.
 */
export class FanOut {
  readonly #clock: Clock
  readonly #matrix: BitMatrix
  readonly #deliver: (row: number, frames: Frames) => void
  readonly #onBurst: (ms: number) => void
  #running = new Burst()
  #waiting = new Burst()
  #scheduled = false
  /** Rows that the running burst goes to: one opened later has no subscriptions before all is settled. */
  #rows = 0
  #first = 0
  /** Rows already served by the running burst. */
  #served = 0

  /** `onBurst` is told how long a burst took from its first frame to its last write. */
  constructor(
    clock: Clock,
    matrix: BitMatrix,
    deliver: (row: number, frames: Frames) => void,
    onBurst: (ms: number) => void,
  ) {
    this.#clock = clock
    this.#matrix = matrix
    this.#deliver = deliver
    this.#onBurst = onBurst
  }

  push(symbol: number, frames: Frames): void {
    if (this.#waiting.empty) this.#waiting.since = this.#clock.monotonicMs()
    this.#waiting.add(symbol, frames)
    this.#schedule()
  }

  /** Whether a frame of the symbol is on its way. */
  has(symbol: number): boolean {
    return this.#running.has(symbol) || this.#waiting.has(symbol)
  }

  /**
   * Finishes at once whatever is on its way. Called before who subscribed to what changes: a bar goes
   * to exactly those who were subscribed when it came.
   */
  settle(): void {
    while (!this.#running.empty || !this.#waiting.empty) this.#serve(Number.POSITIVE_INFINITY)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#clock.soon(() => {
      this.#scheduled = false
      this.#serve(socketsPerSlice)
      if (!this.#running.empty || !this.#waiting.empty) this.#schedule()
    })
  }

  #serve(rowsMax: number): void {
    if (this.#running.empty) this.#begin()
    if (this.#running.empty) return
    const end = Math.min(this.#rows, this.#served + rowsMax)
    for (; this.#served < end; this.#served++) {
      const row = (this.#first + this.#served) % this.#rows
      const frames = this.#matrix.gather(row, this.#running)
      if (frames !== '') this.#deliver(row, frames)
    }
    if (this.#served < this.#rows) return
    this.#running.clear()
    this.#onBurst(this.#clock.monotonicMs() - this.#running.since)
  }

  #begin(): void {
    const burst = this.#waiting
    this.#waiting = this.#running
    this.#running = burst
    this.#rows = this.#matrix.rows
    this.#served = 0
    // A step that shares no factor with most numbers of sockets visits every start in the long run.
    this.#first = (this.#first + 7_919) % Math.max(1, this.#rows)
  }
}
