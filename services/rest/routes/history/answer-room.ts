import { Unavailable } from '../../../core/failure.ts'
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
  /** The answer has so many bytes now. Resolves once they may be held; rejects with `Unavailable`. */
  grow(bytes: number): Promise<void>
  /** Everything is given back; a second time nothing is. */
  leave(): void
}

export interface AnswerRoom {
  open(): HeldAnswer
  readonly bytes: number
  readonly held: number
  readonly waiting: number
  readonly refused: number
}

/**
 * Bounds the memory of answers that are under way. How long one will be is known at its end only, so two
 * half-read ones could wait for each other: one answer at a time may grow beyond the bound, until it is
 * taken. All others wait for room, those that hold some before those that hold none yet.
 */
export function createAnswerRoom(clock: Clock, bytesMax: number = roomBytes): AnswerRoom {
  const lines = { growing: [] as Waiting[], entering: [] as Waiting[] }
  const inside = new Set<Held>()
  let bytes = 0
  let beyond: Held | undefined
  let refused = 0
  const waiting = (): number => lines.growing.length + lines.entering.length

  const fits = (held: Held, more: number): boolean => {
    if (bytes === 0 || bytes + more <= bytesMax) return true
    return held.bytes > 0 && (beyond === undefined || beyond === held)
  }
  const take = (held: Held, more: number): void => {
    if (bytes + more > bytesMax) beyond = held
    bytes += more
    held.bytes += more
    inside.add(held)
  }
  const refuse = (): Unavailable => {
    refused++
    return new Unavailable('room for a long answer')
  }
  const admit = (): void => {
    for (;;) {
      const line = lines.growing.length > 0 ? lines.growing : lines.entering
      const [first] = line
      if (!first || !fits(first.held, first.more)) return
      line.shift()
      first.enter()
    }
  }
  const wait = (held: Held, more: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const line = held.bytes > 0 ? lines.growing : lines.entering
      const turn: Waiting = {
        held,
        more,
        enter() {
          cancel()
          take(held, more)
          resolve()
        },
      }
      const cancel = clock.after(waitMs, () => {
        line.splice(line.indexOf(turn), 1)
        reject(refuse())
        admit()
      })
      line.push(turn)
    })

  return {
    open() {
      const held: Held = { bytes: 0 }
      return {
        get bytes() {
          return held.bytes
        },
        async grow(size) {
          const more = size - held.bytes
          const isFirst = held.bytes > 0 || waiting() === 0
          if (isFirst && fits(held, more)) return take(held, more)
          if (waiting() >= waitingMax) throw refuse()
          return wait(held, more)
        },
        leave() {
          if (!inside.delete(held)) return
          bytes -= held.bytes
          held.bytes = 0
          if (beyond === held) beyond = undefined
          admit()
        },
      }
    },
    get bytes() {
      return bytes
    },
    get held() {
      return inside.size
    },
    get waiting() {
      return waiting()
    },
    get refused() {
      return refused
    },
  }
}

interface Held {
  bytes: number
}

interface Waiting {
  readonly held: Held
  readonly more: number
  readonly enter: () => void
}
