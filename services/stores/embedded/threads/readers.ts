import { Overloaded, Unavailable } from '../../../core/failure.ts'
import { FairQueue, type Reader, serviceReader, waitingShare } from '../../../core/fair-queue.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ReaderCalls } from './reader.ts'
import type { Thread } from './thread.ts'

export const readDeadlineMs = 2_000
export const turnDeadlineMs = readDeadlineMs * waitingShare
/** Maximum reads of one key that wait for a thread. */
export const readsWaitingMax = 1_024

interface Waiting {
  readonly reader: Reader
  readonly start: (thread: ReaderThread, turnsBefore: number) => void
  /** Fails a read that the store could not do; it counts as rejected. */
  readonly giveUp: (cause: Unavailable) => void
  /** Fails a read whose reader is gone; it does not count as rejected. */
  readonly drop: (cause: Unavailable) => void
}

interface ReaderThread {
  readonly thread: Thread<ReaderCalls>
  /** One read at a time: reads of other keys would wait behind a second one. */
  isReading: boolean
}

/** Shares the reader threads: keys take turns. Each read ends within the deadline, waiting included. */
export class Readers {
  readonly #threads: readonly ReaderThread[]
  readonly #clock: Clock
  readonly #turns = new FairQueue<Waiting>(readsWaitingMax)
  #refused = 0

  constructor(threads: readonly Thread<ReaderCalls>[], clock: Clock) {
    this.#threads = threads.map((thread) => ({ thread, isReading: false }))
    this.#clock = clock
  }

  /** Reads that wait for a thread now. */
  get waiting(): number {
    return this.#turns.size
  }

  /** Reads that were not done: too many, too long in the queue, or no thread was running. */
  get refused(): number {
    return this.#refused
  }

  /** Rejects with `Unavailable`, or with `Overloaded` when other reads of the same key delayed it. */
  call<N extends keyof ReaderCalls>(
    name: N,
    argument: Parameters<ReaderCalls[N]>[0],
    reader: Reader = serviceReader('store'),
  ): Promise<ReturnType<ReaderCalls[N]>> {
    return new Promise((resolve, reject) => {
      const begunMs = this.#clock.monotonicMs()
      const drop = (cause: Unavailable): void => {
        cancelDeadline()
        reject(cause)
      }
      const giveUp = (cause: Unavailable): void => {
        this.#refused += 1
        drop(cause)
      }
      const start = (on: ReaderThread, turnsBefore: number): void => {
        cancelDeadline()
        const leftMs = begunMs + readDeadlineMs - this.#clock.monotonicMs()
        cancelDeadline = this.#clock.after(leftMs, () => giveUp(late(readDeadlineMs, turnsBefore > 0)))
        on.isReading = true
        const end = (act: () => void): void =>
          this.#clock.soon(() => {
            cancelDeadline()
            on.isReading = false
            this.#next()
            act()
          })
        // Node delivers all messages of a thread in one turn of the event loop, new ones included. A caller that
        // reads on from there would block all sockets.
        on.thread.call(name, argument).then(
          (value) => end(() => resolve(value)),
          (cause: Error) => end(() => reject(cause)),
        )
      }
      const waiting: Waiting = { reader, start, giveUp, drop }
      let cancelDeadline = this.#clock.after(turnDeadlineMs, () => this.#leave(waiting))
      this.#turns.add(waiting)?.giveUp(overloaded(`${readsWaitingMax} reads wait already`))
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#giveUpAll('the store is closed')
    await Promise.all(this.#threads.map(({ thread }) => thread.close()))
  }

  #leave(waiting: Waiting): void {
    const cause = late(turnDeadlineMs, this.#turns.hasTurns(waiting))
    this.#turns.delete(waiting)
    waiting.giveUp(cause)
  }

  #next(): void {
    while (this.#turns.size > 0) {
      const alive = this.#threads.filter(({ thread }) => thread.alive)
      if (alive.length === 0) return this.#giveUpAll('no reader thread is running')
      const free = alive.find(({ isReading }) => !isReading)
      if (free === undefined) return
      const turn = this.#turns.take()
      if (turn?.next.reader.isGone) turn.next.drop(new Unavailable('store', new Error('its reader is gone')))
      else turn?.next.start(free, turn.turnsBefore)
    }
  }

  #giveUpAll(reason: string): void {
    for (let waiting = this.#turns.drop(); waiting !== undefined; waiting = this.#turns.drop())
      waiting.giveUp(new Unavailable('store', new Error(reason)))
  }
}

const overloaded = (reason: string): Overloaded => new Overloaded('store', new Error(reason))
/** `behindOwn`: other reads of its key were done while it waited. */
const late = (ms: number, behindOwn: boolean): Unavailable => {
  const reason = `not read within ${ms} ms`
  return behindOwn ? overloaded(reason) : new Unavailable('store', new Error(reason))
}
