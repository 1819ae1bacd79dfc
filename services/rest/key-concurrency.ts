import { Overloaded, Unavailable } from '../core/failure.ts'
import type { Cancel, Clock } from '../ports/clock.ts'
import type { Deadline } from './deadline.ts'

/** Maximum running requests of one key, from the rate decision until the client has read the answer. */
export const underWayMax = 16
/** Maximum queued requests of one key. Further ones are refused immediately. */
export const waitingMax = 1_024
/** Maximum wait in the queue; less than a request's deadline of two seconds, so that it can still be answered. */
export const waitMs = 1_500
/** Minimum time before the deadline at which a queued request is refused, so that it can still be answered. */
export const answerMs = 100
/** Maximum late requests of all keys that are refused in one turn of the event loop. */
const refusedPerTurn = 16

interface Waiting {
  readonly untilMs: number
  readonly deadline: Pick<Deadline, 'endMs' | 'ended'>
  readonly enter: () => void
  readonly fail: (cause: Unavailable) => void
}

interface KeyQueue {
  underWay: number
  readonly waiting: Waiting[]
}

/**
 * Limits the running requests of each key, and so the memory and the time that one key can use. Further
 * requests wait for requests of the same key only. Nothing is kept for a key without requests.
 */
export class KeyConcurrency {
  readonly #clock: Clock
  readonly #queues = new Map<string, KeyQueue>()
  /** Set while requests are queued; refuses those that waited too long. */
  #timer: { readonly dueMs: number; readonly cancel: Cancel } | undefined
  #refused = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get keys(): number {
    return this.#queues.size
  }

  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.#queues.values()) sum += waiting.length
    return sum
  }

  /** Requests refused since the start, because they could not run in time. */
  get refused(): number {
    return this.#refused
  }

  /** Resolves when the request may run; then `leave` must end it. Rejects with `Overloaded` if it waited too long. */
  async enter(key: string, deadline: Waiting['deadline']): Promise<void> {
    const queue = this.#queues.get(key) ?? { underWay: 0, waiting: [] }
    this.#queues.set(key, queue)
    if (queue.underWay < underWayMax) {
      queue.underWay += 1
      return
    }
    if (queue.waiting.length >= waitingMax) throw this.#refusal()
    // The rate decision may have taken a part of the deadline.
    const untilMs = Math.min(this.#clock.monotonicMs() + waitMs, deadline.endMs - answerMs)
    await new Promise<void>((resolve, reject) => {
      queue.waiting.push({ untilMs, deadline, enter: resolve, fail: reject })
      if (this.#timer === undefined || untilMs < this.#timer.dueMs) this.#refuseAt(untilMs)
    })
  }

  /** Must be called once for each `enter` that resolved. */
  leave(key: string): void {
    const queue = this.#queues.get(key)
    if (queue === undefined) throw new Error('leave was called for a key without a request under way')
    queue.underWay -= 1
    while (queue.underWay < underWayMax) {
      const next = queue.waiting.shift()
      if (next === undefined) break
      // The client is gone, so this is not a refusal.
      if (next.deadline.ended) next.fail(new Unavailable('a client that waits'))
      else {
        queue.underWay += 1
        next.enter()
      }
    }
    if (queue.underWay === 0) this.#queues.delete(key)
    if (this.#timer === undefined || this.waiting > 0) return
    this.#timer.cancel()
    this.#timer = undefined
  }

  #refuseAt(dueMs: number): void {
    this.#timer?.cancel()
    const delayMs = Math.max(0, dueMs - this.#clock.monotonicMs())
    this.#timer = { dueMs, cancel: this.#clock.after(delayMs, () => this.#refuseLate()) }
  }

  /** Refuses late requests, a few per turn: thousands may be late together, and other keys must also be served. */
  #refuseLate(): void {
    const now = this.#clock.monotonicMs()
    let left = refusedPerTurn
    let dueMs = Number.POSITIVE_INFINITY
    for (const { waiting } of this.#queues.values()) {
      const late = waiting.filter(({ untilMs }) => untilMs <= now).slice(0, left)
      left -= late.length
      for (const each of late) {
        waiting.splice(waiting.indexOf(each), 1)
        each.fail(this.#refusal())
      }
      for (const { untilMs } of waiting) dueMs = Math.min(dueMs, untilMs)
    }
    this.#timer = undefined
    if (dueMs <= now) this.#refuseInNextTurn(dueMs)
    else if (dueMs < Number.POSITIVE_INFINITY) this.#refuseAt(dueMs)
  }

  /** Timers that are due run in one turn, also those that were set in it. */
  #refuseInNextTurn(dueMs: number): void {
    let isCancelled = false
    this.#timer = { dueMs, cancel: () => (isCancelled = true) }
    this.#clock.soon(() => {
      if (!isCancelled) this.#refuseLate()
    })
  }

  #refusal(): Overloaded {
    this.#refused += 1
    return new Overloaded('capacity for a request of the key')
  }
}
