import { Unavailable } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { ReaderCalls } from './reader.ts'
import type { Thread } from './thread.ts'

export const readDeadlineMs = 2_000
/** Two, so that a reader has its next call at hand when it has answered one. */
const callsPerReader = 2
/** Reads that wait for a reader; one more is refused, since it would hardly be answered in time. */
export const readsWaitingMax = 1_024

interface Waiting {
  readonly start: (reader: Reader) => void
  readonly giveUp: (reason: string) => void
}

interface Reader {
  readonly thread: Thread<ReaderCalls>
  underWay: number
}

/** Shares reads among the reader threads; each ends within the deadline, waiting included. */
export class Readers {
  readonly #readers: readonly Reader[]
  readonly #clock: Clock
  readonly #line = new Set<Waiting>()
  #refused = 0

  constructor(threads: readonly Thread<ReaderCalls>[], clock: Clock) {
    this.#readers = threads.map((thread) => ({ thread, underWay: 0 }))
    this.#clock = clock
  }

  /** Reads that wait for a reader now. */
  get waiting(): number {
    return this.#line.size
  }

  /** Reads that were not done: too many or too long waited, or no reader was there. */
  get refused(): number {
    return this.#refused
  }

  call<N extends keyof ReaderCalls>(
    name: N,
    argument: Parameters<ReaderCalls[N]>[0],
  ): Promise<ReturnType<ReaderCalls[N]>> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: string): void => {
        cancelDeadline()
        this.#line.delete(waiting)
        this.#refused += 1
        reject(new Unavailable('store', new Error(reason)))
      }
      const start = (reader: Reader): void => {
        reader.underWay += 1
        const free = (): void => {
          cancelDeadline()
          reader.underWay -= 1
          this.#next()
        }
        void reader.thread.call(name, argument).then(resolve, reject).finally(free)
      }
      const waiting: Waiting = { start, giveUp }
      const late = `not read within ${readDeadlineMs} ms`
      const cancelDeadline = this.#clock.after(readDeadlineMs, () => giveUp(late))
      if (this.#line.size >= readsWaitingMax) return giveUp(`${readsWaitingMax} reads wait already`)
      this.#line.add(waiting)
      this.#next()
    })
  }

  async close(): Promise<void> {
    for (const waiting of this.#line) waiting.giveUp('the store is closed')
    await Promise.all(this.#readers.map(({ thread }) => thread.close()))
  }

  #next(): void {
    for (const waiting of this.#line) {
      const alive = this.#readers.filter(({ thread }) => thread.alive)
      const free = alive.filter(({ underWay }) => underWay < callsPerReader)
      const [least] = free.sort((a, b) => a.underWay - b.underWay)
      if (least) {
        this.#line.delete(waiting)
        waiting.start(least)
      } else if (alive.length === 0) waiting.giveUp('no reader thread is running')
      else return
    }
  }
}
