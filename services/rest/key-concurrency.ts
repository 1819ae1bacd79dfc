import { Overloaded, Unavailable } from '../core/failure.ts'
import type { Clock } from '../ports/clock.ts'

/** Requests of one key that are under way at once, from the rate decision until their client took the answer. */
export const underWayMax = 16
/** Further requests of the key wait for a place, in order of arrival; the next is refused at once. */
export const waitingMax = 1_024
/** Less than a request's two seconds, so that one that gets its place late can still be answered. */
export const waitMs = 1_500
/** Requests that are refused in one turn of the event loop. */
const refusedPerTurn = 32

interface Waiting {
  readonly untilMs: number
  /** Nobody waits for the answer any more. */
  readonly isGone: () => boolean
  readonly enter: () => void
  readonly fail: (cause: Unavailable) => void
}

interface Line {
  underWay: number
  readonly waiting: Waiting[]
  /** Set while requests wait: refuses those that waited too long. */
  cancelTimer: (() => void) | undefined
}

/**
 * Bounds what one key's requests hold of this process: memory for bars and answers, and time in a row. A key
 * that asks for more waits for itself. A key without a request leaves no trace.
 */
export class KeyConcurrency {
  readonly #clock: Clock
  readonly #lines = new Map<string, Line>()
  #refused = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Keys with a request under way. */
  get keys(): number {
    return this.#lines.size
  }

  /** Requests that wait for a place now. */
  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.#lines.values()) sum += waiting.length
    return sum
  }

  /** Requests that found no place in time, since the start. */
  get refused(): number {
    return this.#refused
  }

  /** Resolves once the request may go on; `leave` then ends it. Rejects with `Overloaded` when it came too late. */
  async enter(key: string, isGone: () => boolean): Promise<void> {
    const line = this.#lines.get(key) ?? { underWay: 0, waiting: [], cancelTimer: undefined }
    this.#lines.set(key, line)
    if (line.underWay < underWayMax) {
      line.underWay += 1
      return
    }
    if (line.waiting.length >= waitingMax) throw this.#refusal()
    const untilMs = this.#clock.monotonicMs() + waitMs
    await new Promise<void>((resolve, reject) => {
      line.waiting.push({ untilMs, isGone, enter: resolve, fail: reject })
      line.cancelTimer ??= this.#refuseAfter(line, waitMs)
    })
  }

  /** Once for each `enter` that resolved. */
  leave(key: string): void {
    const line = this.#lines.get(key)
    if (line === undefined) throw new Error('leave was called for a key without a request under way')
    line.underWay -= 1
    while (line.underWay < underWayMax) {
      const next = line.waiting.shift()
      if (next === undefined) break
      // Nobody hears this, and it is no refusal.
      if (next.isGone()) next.fail(new Unavailable('a client that waits'))
      else {
        line.underWay += 1
        next.enter()
      }
    }
    if (line.waiting.length > 0) return
    line.cancelTimer?.()
    line.cancelTimer = undefined
    if (line.underWay === 0) this.#lines.delete(key)
  }

  #refuseAfter(line: Line, delayMs: number): () => void {
    return this.#clock.after(delayMs, () => this.#refuseLate(line))
  }

  /** Hundreds that came at once are late at once: other keys get their turns between them. */
  #refuseLate(line: Line): void {
    const now = this.#clock.monotonicMs()
    for (let refused = 0; refused < refusedPerTurn; refused += 1) {
      const [first] = line.waiting
      if (first === undefined) {
        line.cancelTimer = undefined
        return
      }
      if (first.untilMs > now) break
      line.waiting.shift()
      first.fail(this.#refusal())
    }
    const [next] = line.waiting
    line.cancelTimer = next && this.#refuseAfter(line, Math.max(0, next.untilMs - now))
  }

  #refusal(): Overloaded {
    this.#refused += 1
    return new Overloaded('a place for a request of the key')
  }
}
