import { Overloaded } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'

/** Maximum bytes of a short answer, which is written in one piece; a longer one reserves memory until it is read. */
export const longBytes = 1_048_576
/** Maximum memory of all long answers, except for the oversize one. */
const memoryBytes = 64 * 1_048_576
/** Maximum part of this memory for the answers of one key. */
const keyShare = 1 / 4
/** Maximum answers that wait for memory; further ones are refused immediately. */
export const waitingMax = 32
/** Maximum wait for memory; with the reading before it this stays within a request's deadline of two seconds. */
export const waitMs = 1_500

const readMsMin = 30_000
/** Maximum milliseconds for a client to read an answer of this length; then its connection is cut. */
export const readMsMax = (bytes: number): number => readMsMin + bytes / 256
/** The same while another key waits for memory: 2.5 MB/s, so that two keys do not cut each other without end. */
export const readMsMaxWhileOthersWait = (bytes: number): number => readMsMin + bytes / 2_560

export interface AnswerReservation {
  readonly bytes: number
  /** `bytes` is the new length. Resolves when the memory is reserved; rejects with `Overloaded`. */
  readonly grow: (bytes: number) => Promise<void>
  /** The client begins to read. `cut` closes its connection; it is called when another key needs the memory. */
  readonly begin: (cut: () => void) => void
  /** Frees all memory of the answer; a second call does nothing. */
  readonly leave: () => void
}

interface Reservation {
  readonly key: string
  bytes: number
  cutIfSlow?: () => void
}

interface Waiting {
  readonly own: Reservation
  readonly more: number
  readonly enter: () => void
}

/**
 * Limits the memory of long answers, in total and per key. The length of an answer is known only at its end, so two
 * half-read answers could wait for each other. Therefore one answer at a time, the oversize one, may exceed the
 * limits, and is not counted until it is read. All others wait, answers with memory before answers without.
 * While an answer of another key waits, the client of the oversize answer has less time to read.
 * Then the answer of the other key is next.
 */
export class AnswerMemory {
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #growing: Waiting[] = []
  readonly #entering: Waiting[] = []
  readonly #inside = new Set<Reservation>()
  #oversize: Reservation | undefined
  #refused = 0

  constructor(clock: Clock, bytesMax: number = memoryBytes) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  /** Memory of all long answers, the oversize one included. */
  get bytes(): number {
    let bytes = 0
    for (const each of this.#inside) bytes += each.bytes
    return bytes
  }

  get answers(): number {
    return this.#inside.size
  }

  get waiting(): number {
    return this.#growing.length + this.#entering.length
  }

  /** Answers refused since the start, because no memory was free in time. */
  get refused(): number {
    return this.#refused
  }

  open(key: string): AnswerReservation {
    const own: Reservation = { key, bytes: 0 }
    return {
      get bytes() {
        return own.bytes
      },
      grow: (bytes) => this.#grow(own, bytes - own.bytes),
      begin: (cut) => {
        const endMs = this.#clock.monotonicMs() + readMsMaxWhileOthersWait(own.bytes)
        own.cutIfSlow = () => {
          if (this.#clock.monotonicMs() >= endMs) cut()
        }
      },
      leave: () => this.#leave(own),
    }
  }

  async #grow(own: Reservation, more: number): Promise<void> {
    if (this.#fits(own, more)) return this.#take(own, more)
    if (this.waiting >= waitingMax) throw this.#refuse()
    return this.#wait(own, more)
  }

  #leave(own: Reservation): void {
    if (!this.#inside.delete(own)) return
    own.bytes = 0
    if (this.#oversize === own) {
      this.#oversize = undefined
      this.#admitOther(own.key)
    }
    this.#admit()
  }

  #fits(own: Reservation, more: number): boolean {
    return this.#oversize === undefined || this.#oversize === own || this.#isWithinBounds(own, more)
  }

  #take(own: Reservation, more: number): void {
    if (!this.#isWithinBounds(own, more)) this.#oversize = own
    own.bytes += more
    this.#inside.add(own)
  }

  #isWithinBounds(own: Reservation, more: number): boolean {
    let [ofAll, ofKey] = [more, more]
    for (const each of this.#inside) {
      if (each === this.#oversize) continue
      ofAll += each.bytes
      if (each.key === own.key) ofKey += each.bytes
    }
    return ofAll <= this.#bytesMax && ofKey <= this.#bytesMax * keyShare
  }

  #refuse(): Overloaded {
    this.#refused++
    return new Overloaded('memory for a long answer')
  }

  #wait(own: Reservation, more: number): Promise<void> {
    const queue = own.bytes > 0 ? this.#growing : this.#entering
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        cancel()
        this.#take(own, more)
        resolve()
      }
      const turn: Waiting = { own, more, enter }
      const cancel = this.#clock.after(waitMs, () => {
        queue.splice(queue.indexOf(turn), 1)
        reject(this.#refuse())
      })
      queue.push(turn)
      if (this.#oversize?.key !== own.key) this.#oversize?.cutIfSlow?.()
    })
  }

  /** Admits an answer of another key next: one key must not occupy the oversize place without end. */
  #admitOther(key: string): void {
    for (const queue of [this.#growing, this.#entering]) {
      const at = queue.findIndex(({ own }) => own.key !== key)
      if (at >= 0) return queue.splice(at, 1)[0]?.enter()
    }
  }

  #admit(): void {
    for (const queue of [this.#growing, this.#entering])
      for (let at = this.#firstFitting(queue); at >= 0; at = this.#firstFitting(queue))
        queue.splice(at, 1)[0]?.enter()
  }

  #firstFitting(queue: readonly Waiting[]): number {
    return queue.findIndex(({ own, more }) => this.#fits(own, more))
  }
}
