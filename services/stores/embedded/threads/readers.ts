import { type Reader, serviceReader } from '../../../core/fair-queue.ts'
import { ReadTurns, readDeadlineMs, readsWaitingMax } from '../../../platform/read-turns.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ReaderCalls } from './reader.ts'
import type { Thread } from './thread.ts'

interface ReaderThread {
  readonly thread: Thread<ReaderCalls>
  /** One read at a time: reads of other keys would wait behind a second one. */
  isReading: boolean
}

/** Shares the reader threads: keys take turns. Each read ends within the deadline, waiting included. */
export class Readers {
  readonly #threads: readonly ReaderThread[]
  readonly #clock: Clock
  readonly #turns: ReadTurns<ReaderThread>

  constructor(threads: readonly Thread<ReaderCalls>[], clock: Clock) {
    this.#threads = threads.map((thread) => ({ thread, isReading: false }))
    this.#clock = clock
    this.#turns = new ReadTurns(clock, readsWaitingMax, () => void (this.#turns.refused += 1))
  }

  get waiting(): number {
    return this.#turns.waiting
  }

  /** Reads that were not done: too many, too late, or no thread was running. */
  get refused(): number {
    return this.#turns.refused
  }

  /** Rejects with `Unavailable`, or with `Overloaded` when other reads of the same key delayed it. */
  call<N extends keyof ReaderCalls>(
    name: N,
    argument: Parameters<ReaderCalls[N]>[0],
    reader: Reader = serviceReader('store'),
    deadlineMs = readDeadlineMs,
    isShort = false,
  ): Promise<ReturnType<ReaderCalls[N]>> {
    const reading = this.#turns.add({ reader, deadlineMs, isShort }, async (on) => {
      on.isReading = true
      try {
        return await on.thread.call(name, argument)
      } finally {
        // Node delivers all messages of a thread in one turn of the event loop, new ones included. A caller that
        // reads on from there would block all sockets.
        await new Promise<void>((resolve) => this.#clock.soon(resolve))
        on.isReading = false
        this.#next()
      }
    })
    this.#next()
    return reading
  }

  async close(): Promise<void> {
    this.#turns.refuseAll('the store is closed')
    await Promise.all(this.#threads.map(({ thread }) => thread.close()))
  }

  #next(): void {
    while (this.#turns.waiting > 0) {
      const alive = this.#threads.filter(({ thread }) => thread.alive)
      if (alive.length === 0) return this.#turns.refuseAll('no reader thread is running')
      const free = alive.find(({ isReading }) => !isReading)
      if (free === undefined) return
      this.#turns.serve(free)
    }
  }
}
