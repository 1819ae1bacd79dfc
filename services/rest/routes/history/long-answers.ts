import { Unavailable } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'

/** An answer of more bars (about 5 MB while it is held) is a long one. */
export const longBars = 100_000
/** So many long ones are held at once; the next waits. */
const longAnswersMax = 4
const waitingMax = 32
export const waitMs = 10_000

/** How long a client may take for an answer of so many bytes before its place is given to others. */
export const takeMs = (bytes: number): number => 30_000 + bytes / 256

export interface LongAnswers {
  /** Waits for a place, first come first served; rejects with `Unavailable` when too many or too long wait. */
  enter(): Promise<() => void>
  readonly held: number
  readonly waiting: number
}

/** Bounds the memory that very long answers hold: they are answered whole, but not all at once. */
export function createLongAnswers(clock: Clock, placesMax: number = longAnswersMax): LongAnswers {
  const queue: (() => void)[] = []
  let held = 0

  const place = (): (() => void) => {
    let left = false
    held++
    return () => {
      if (left) return
      left = true
      held--
      queue.shift()?.()
    }
  }
  const wait = (): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        cancel()
        resolve(place())
      }
      const cancel = clock.after(waitMs, () => {
        queue.splice(queue.indexOf(enter), 1)
        reject(new Unavailable('a place for a long answer'))
      })
      queue.push(enter)
    })

  return {
    async enter() {
      if (held < placesMax) return place()
      if (queue.length >= waitingMax) throw new Unavailable('a place for a long answer')
      return wait()
    },
    get held() {
      return held
    },
    get waiting() {
      return queue.length
    },
  }
}
