import { Overloaded, Unavailable } from '../core/failure.ts'
import { FairQueue, type Reader, waitingShare } from '../core/fair-queue.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** Deadline of a read of a store, waiting included. */
export const readDeadlineMs = 2_000
/** Deadline of reads that no client waits for, such as those of ingest. It is longer because they read again after a failure. */
export const patientReadDeadlineMs = 15_000
/** Maximum bars of a short read; a long one of another key takes several times as long. */
const shortReadBars = 1_000
/** Maximum reads of one key that wait for their turns. */
export const readsWaitingMax = 1_024

/** `bars`: the maximum of the read; `undefined` without one. */
export const isShortRead = (bars: number | undefined): boolean => bars !== undefined && bars <= shortReadBars

interface Waiting<On> {
  readonly reader: Reader
  readonly isShort: boolean
  readonly start: (on: On, turnsBefore: number) => void
  readonly fail: (cause: Unavailable) => void
}

/** Reads of a store that share its connections or threads (`On`): keys take turns. */
export class ReadTurns<On> {
  readonly #clock: Clock
  readonly #queue: FairQueue<Waiting<On>>
  readonly #onLate: (on: On) => void
  /** Reads that were rejected while they waited; `onLate` may add others. */
  refused = 0

  /** `onLate` is called when the deadline of a read passes after its start. */
  constructor(clock: Clock, waitingMax: number, onLate: (on: On) => void) {
    this.#clock = clock
    this.#queue = new FairQueue(waitingMax)
    this.#onLate = onLate
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Rejects with `Unavailable` at the deadline or a bound; with `Overloaded` if reads of the same key delayed it. */
  add<T>(
    { reader, deadlineMs, isShort }: { reader: Reader; deadlineMs: number; isShort: boolean },
    start: (on: On) => Promise<T>,
  ): Promise<T> {
    const endMs = this.#clock.monotonicMs() + deadlineMs
    const turnMs = deadlineMs * waitingShare
    let cancelDeadline: Cancel
    return new Promise<T>((resolve, fail) => {
      const startOn = (on: On, turnsBefore: number): void => {
        cancelDeadline()
        cancelDeadline = this.#clock.after(endMs - this.#clock.monotonicMs(), () => {
          fail(late(deadlineMs, turnsBefore > 0))
          this.#onLate(on)
        })
        start(on).then(resolve, fail)
      }
      const waiting: Waiting<On> = { reader, isShort, start: startOn, fail }
      cancelDeadline = this.#clock.after(turnMs, () => {
        const cause = late(turnMs, this.#queue.hasTurns(waiting))
        this.#queue.delete(waiting)
        this.#refuse(waiting, cause)
      })
      const dropped = this.#queue.add(waiting)
      if (dropped) this.#refuse(dropped, overloaded('too many reads are already waiting'))
    }).finally(() => cancelDeadline())
  }

  /** Starts the next read. Returns `false` if none started. A read without a waiting reader fails. */
  serve(on: On): boolean {
    const turn = this.#queue.take()
    if (turn === undefined) return false
    const { next, turnsBefore } = turn
    if (next.reader.isGone) {
      next.fail(unread('its client closed the request'))
      return false
    }
    next.start(on, turnsBefore)
    return true
  }

  /** Fails the next read, uncounted. */
  failNext(cause: Unavailable): void {
    this.#queue.drop()?.fail(cause)
  }

  refuseAll(reason: string): void {
    for (let waiting = this.#queue.drop(); waiting !== undefined; waiting = this.#queue.drop())
      this.#refuse(waiting, unread(reason))
  }

  #refuse(waiting: Waiting<On>, cause: Unavailable): void {
    this.refused += 1
    waiting.fail(cause)
  }
}

const overloaded = (reason: string): Overloaded => new Overloaded('store', new Error(reason))
const unread = (reason: string): Unavailable => new Unavailable('store', new Error(reason))

/** `behindOwn`: other reads of its key were done while it waited. */
const late = (ms: number, behindOwn: boolean): Unavailable => {
  const reason = `not read within ${Math.round(ms)} ms`
  return behindOwn ? overloaded(reason) : unread(reason)
}
