import { Overloaded } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'

/** An answer of more bytes holds room until its client has taken it; shorter ones go out in one piece. */
export const longBytes = 1_048_576
/** What all long answers hold together, but for the one beyond the bounds. */
const roomBytes = 64 * 1_048_576
/** The part of the room that one key's answers hold together. */
const keyShare = 1 / 4
/** So many wait for room; the next is refused at once. */
export const waitingMax = 32
/** Reading came before the waiting: together they stay within a request's two seconds. */
export const waitMs = 1_500

/** How long a client may take for an answer of so many bytes before its connection is cut. */
export const takeMs = (bytes: number): number => 30_000 + bytes / 256

/** What one answer holds. */
export interface AnswerReservation {
  readonly bytes: number
  /** The answer has so many bytes now. Resolves once they may be held; rejects with `Overloaded`. */
  readonly grow: (bytes: number) => Promise<void>
  /** Everything is given back; a second time nothing is. */
  readonly leave: () => void
}

interface Held {
  readonly key: string
  bytes: number
}

interface Waiting {
  readonly held: Held
  readonly more: number
  readonly enter: () => void
}

/**
 * Bounds the memory of answers that are under way, and of each key's. How long one will be is known at its end
 * only, so two half-read ones could wait for each other: one answer at a time may grow beyond the bounds, and is
 * counted apart until it is taken. All others wait for room, those that hold some before those that hold none yet.
 */
export class AnswerMemory {
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #growing: Waiting[] = []
  readonly #entering: Waiting[] = []
  readonly #inside = new Set<Held>()
  #beyond: Held | undefined
  #refused = 0

  constructor(clock: Clock, bytesMax: number = roomBytes) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  /** What all long answers hold, with the one beyond the bounds. */
  get bytes(): number {
    let bytes = 0
    for (const held of this.#inside) bytes += held.bytes
    return bytes
  }

  /** Answers that hold room. */
  get held(): number {
    return this.#inside.size
  }

  get waiting(): number {
    return this.#growing.length + this.#entering.length
  }

  /** Answers that found no room in time, since the start. */
  get refused(): number {
    return this.#refused
  }

  open(key: string): AnswerReservation {
    const held: Held = { key, bytes: 0 }
    return {
      get bytes() {
        return held.bytes
      },
      grow: (bytes) => this.#grow(held, bytes - held.bytes),
      leave: () => this.#leave(held),
    }
  }

  async #grow(held: Held, more: number): Promise<void> {
    if (this.#fits(held, more)) return this.#take(held, more)
    if (this.waiting >= waitingMax) throw this.#refuse()
    return this.#wait(held, more)
  }

  #leave(held: Held): void {
    if (!this.#inside.delete(held)) return
    held.bytes = 0
    if (this.#beyond === held) this.#beyond = undefined
    this.#admit()
  }

  #fits(held: Held, more: number): boolean {
    return this.#beyond === undefined || this.#beyond === held || this.#isWithinBounds(held, more)
  }

  #take(held: Held, more: number): void {
    if (!this.#isWithinBounds(held, more)) this.#beyond = held
    held.bytes += more
    this.#inside.add(held)
  }

  #isWithinBounds(held: Held, more: number): boolean {
    let [ofAll, ofKey] = [more, more]
    for (const each of this.#inside) {
      if (each === this.#beyond) continue
      ofAll += each.bytes
      if (each.key === held.key) ofKey += each.bytes
    }
    return ofAll <= this.#bytesMax && ofKey <= this.#bytesMax * keyShare
  }

  #refuse(): Overloaded {
    this.#refused++
    return new Overloaded('room for a long answer')
  }

  #wait(held: Held, more: number): Promise<void> {
    const line = held.bytes > 0 ? this.#growing : this.#entering
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        cancel()
        this.#take(held, more)
        resolve()
      }
      const turn: Waiting = { held, more, enter }
      const cancel = this.#clock.after(waitMs, () => {
        line.splice(line.indexOf(turn), 1)
        reject(this.#refuse())
      })
      line.push(turn)
    })
  }

  #admit(): void {
    for (const line of [this.#growing, this.#entering])
      for (let at = this.#firstFitting(line); at >= 0; at = this.#firstFitting(line))
        line.splice(at, 1)[0]?.enter()
  }

  #firstFitting(line: readonly Waiting[]): number {
    return line.findIndex(({ held, more }) => this.#fits(held, more))
  }
}
