import { Overloaded } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'

/** An answer of more bytes holds room until its client has taken it; shorter ones go out in one piece. */
export const longBytes = 1_048_576
/** What all long answers hold together, but for the one that may grow beyond. */
const roomBytes = 64 * 1_048_576
/** So many wait for room; the next is refused at once. */
export const waitingMax = 32
/** Reading came before the waiting: together they stay within a request's two seconds. */
export const waitMs = 1_500

/** How long a client may take for an answer of so many bytes before its connection is cut. */
export const takeMs = (bytes: number): number => 30_000 + bytes / 256

/** What one answer holds. */
export interface HeldAnswer {
  readonly bytes: number
  /** The answer has so many bytes now. Resolves once they may be held; rejects with `Overloaded`. */
  readonly grow: (bytes: number) => Promise<void>
  /** Everything is given back; a second time nothing is. */
  readonly leave: () => void
}

interface Held {
  bytes: number
}

interface Waiting {
  readonly held: Held
  readonly more: number
  readonly enter: () => void
}

/**
 * Bounds the memory of answers that are under way. How long one will be is known at its end only, so two
 * half-read ones could wait for each other: one answer at a time may grow beyond the bound, until it is
 * taken. All others wait for room, those that hold some before those that hold none yet.
 */
export class AnswerRoom {
  readonly #clock: Clock
  readonly #bytesMax: number
  readonly #growing: Waiting[] = []
  readonly #entering: Waiting[] = []
  readonly #inside = new Set<Held>()
  #bytes = 0
  #beyond: Held | undefined
  #refused = 0

  constructor(clock: Clock, bytesMax: number = roomBytes) {
    this.#clock = clock
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
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

  open(): HeldAnswer {
    const held: Held = { bytes: 0 }
    return {
      get bytes() {
        return held.bytes
      },
      grow: (bytes) => this.#grow(held, bytes - held.bytes),
      leave: () => this.#leave(held),
    }
  }

  async #grow(held: Held, more: number): Promise<void> {
    const isNext = held.bytes > 0 || this.waiting === 0
    if (isNext && this.#fits(held, more)) return this.#take(held, more)
    if (this.waiting >= waitingMax) throw this.#refuse()
    return this.#wait(held, more)
  }

  #leave(held: Held): void {
    if (!this.#inside.delete(held)) return
    this.#bytes -= held.bytes
    held.bytes = 0
    if (this.#beyond === held) this.#beyond = undefined
    this.#admit()
  }

  #fits(held: Held, more: number): boolean {
    if (this.#bytes === 0 || this.#bytes + more <= this.#bytesMax) return true
    return held.bytes > 0 && (this.#beyond === undefined || this.#beyond === held)
  }

  #take(held: Held, more: number): void {
    if (this.#bytes + more > this.#bytesMax) this.#beyond = held
    this.#bytes += more
    held.bytes += more
    this.#inside.add(held)
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
        this.#admit()
      })
      line.push(turn)
    })
  }

  #admit(): void {
    for (;;) {
      const line = this.#growing.length > 0 ? this.#growing : this.#entering
      const [first] = line
      if (!first || !this.#fits(first.held, first.more)) return
      line.shift()
      first.enter()
    }
  }
}
