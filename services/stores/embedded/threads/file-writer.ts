import type { Lane } from '../../../core/bars/series.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import { type Job, Submission, WriteQueue, writeDeadlineMs } from '../../write-queue.ts'
import type { PackedRows } from '../file/packed-rows.ts'
import { BarWrites } from './bar-writes.ts'
import type { Thread } from './thread.ts'
import type { WriterCalls } from './writer.ts'

/** Maximum rows of one transaction: a live bar waits for no more than the turns under way. */
export const rowsPerTurn = 2_000
/** Two, so that the writer has its next turn when it has committed one. */
const turnsUnderWay = 2
/**
 * Deadline of a turn under way. It is longer than that of a write, so that no more is sent to a writer that hangs.
 */
export const turnDeadlineMs = 2 * writeDeadlineMs

/** Bars, which share a transaction with others that wait, or any other call, which has its own. */
type Work = PackedRows | (() => Promise<unknown>)

/** Queues calls of the writer thread: the live lane before the backfill lane, both bounded. */
export class FileWriter {
  readonly #writer: Thread<WriterCalls>
  readonly #clock: Clock
  readonly #bars: BarWrites
  readonly #queue = new WriteQueue<Work>({
    rowsPerTake: rowsPerTurn,
    rowsOf: (work) => (typeof work === 'function' ? rowsPerTurn : work.count),
    rowsOutsideMax: Number.POSITIVE_INFINITY,
  })
  readonly #open = new Set<Promise<void>>()
  #underWay = 0
  #refused = 0
  #isFailing = false

  constructor(writer: Thread<WriterCalls>, clock: Clock, log: Log) {
    this.#writer = writer
    this.#clock = clock
    this.#bars = new BarWrites(clock, log)
  }

  /** Writes that are not committed yet, those under way included. */
  get waiting(): number {
    return this.#open.size
  }

  /** Writes that failed or timed out. */
  get refused(): number {
    return this.#refused
  }

  /** Whether the last write failed: the disk may be full. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** For how long all writes of bars have failed, in milliseconds. */
  get barsFailingMs(): number {
    return this.#bars.failingMs
  }

  /** Throws `Unavailable` when writes of bars have failed for too long, even if other writes succeed. */
  throwIfFailing(): void {
    this.#bars.throwIfFailing()
  }

  /** Resolves once all pieces are committed. */
  writeBars(pieces: readonly PackedRows[], lane: Lane): Promise<void> {
    const weight = pieces.reduce((sum, { count }) => sum + count, 0)
    return this.#submit(pieces, lane, weight)
  }

  /** Any other call of the writer, in its turn; `weight` is the number of rows that it counts for. */
  async call<N extends keyof WriterCalls>(
    name: N,
    argument: Parameters<WriterCalls[N]>[0],
    { lane, weight }: { lane: Lane; weight: number },
  ): Promise<ReturnType<WriterCalls[N]>> {
    let answer: Promise<ReturnType<WriterCalls[N]>> | undefined
    const asked = () => (answer = this.#writer.call(name, argument))
    const work = name === 'ping' ? asked : () => this.#watch(asked())
    await this.#submit([work], lane, weight)
    return answer as Promise<ReturnType<WriterCalls[N]>>
  }

  /** Resolves when no writes are left. */
  async drain(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  #submit(works: readonly Work[], lane: Lane, rows: number): Promise<void> {
    if (works.length === 0) return Promise.resolve()
    const submission = new Submission(works, { lane, rows, deadlineMs: writeDeadlineMs, clock: this.#clock })
    submission.onSettled = (cause) => {
      if (cause !== undefined) this.#refused += 1
      this.#queue.leave(submission)
      this.#pump()
    }
    const { done } = submission
    this.#open.add(done)
    const forget = (): void => void this.#open.delete(done)
    done.then(forget, forget)
    this.#queue.enter(submission)
    this.#pump()
    return done
  }

  #pump(): void {
    while (this.#underWay < turnsUnderWay) {
      const turn = this.#queue.take()
      if (turn.length === 0) return
      this.#underWay += 1
      this.#run(turn).then(
        () => this.#done(turn),
        (cause: unknown) => this.#done(turn, cause),
      )
    }
  }

  async #run(turn: readonly Job<Work>[]): Promise<void> {
    const rows: PackedRows[] = []
    for (const { work } of turn) {
      if (typeof work === 'function') await work()
      else rows.push(work)
    }
    const handedOver = rows.map(({ fields }) => fields.buffer)
    if (rows.length > 0) await this.#bars.watch(this.#watch(this.#writer.call('writeBars', rows, handedOver)))
  }

  async #watch<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write
      this.#isFailing = false
      return result
    } catch (cause) {
      this.#isFailing = true
      throw cause
    }
  }

  #done(turn: readonly Job<Work>[], cause?: unknown): void {
    for (const { submission } of turn) {
      if (cause === undefined) submission.stored()
      else submission.settle(cause)
    }
    // The next turn begins after this, so that it contains no piece of a write that failed in this turn.
    this.#underWay -= 1
    this.#pump()
  }
}
