import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { markStage } from '../../../platform/stages.ts'
import { failingMsMax } from '../../../platform/write-outage.ts'
import type { WriteOptions } from '../../../ports/bars.ts'
import type { Clock } from '../../../ports/clock.ts'
import { WriteQueue } from '../../write-queue/queue.ts'
import {
  type Job,
  Submission,
  type SubmissionOptions,
  type Work,
  writeDeadlineMs,
} from '../../write-queue/submission.ts'
import { untilDone } from '../../write-queue/until-done.ts'
import type { PackedRows } from '../file/packed-rows.ts'
import type { Thread } from './thread.ts'
import type { WriterCalls } from './writer.ts'

/** Maximum rows of one transaction: a live bar waits for no more than the turns under way. */
export const rowsPerTurn = 2_000
/** Two, so that the writer has its next turn when it has committed one. */
const turnsUnderWay = 2
/** Deadline of a turn under way. It is longer than that of a call, so that no more is sent to a writer that hangs. */
export const turnDeadlineMs = 2 * writeDeadlineMs

/** Bars, which share a transaction with others that wait. */
interface BarWork extends Work {
  readonly table: 'bars'
  readonly piece: PackedRows
}

/** Any other call, which has a transaction of its own. It may succeed while bars cannot be stored. */
interface CallWork extends Work {
  readonly table: 'calls'
  readonly run: () => Promise<unknown>
}

type FileWork = BarWork | CallWork
type Turn = readonly Job<FileWork>[]

/** Queues calls of the writer thread: the live lane before the backfill lane. Bars wait until they are stored. */
export class FileWriter {
  readonly #thread: Thread<WriterCalls>
  readonly #clock: Clock
  readonly #outage: OutageLog
  readonly #queue: WriteQueue<FileWork>
  readonly #open = new Set<Promise<unknown>>()
  #underWay = 0
  #refused = 0
  #isFailing = false
  #isClosing = false

  constructor(thread: Thread<WriterCalls>, clock: Clock, log: Log) {
    this.#thread = thread
    this.#clock = clock
    this.#outage = new OutageLog({ log, clock })
    this.#queue = new WriteQueue({ clock, rowsPerTake: rowsPerTurn, onReady: () => this.#pump() })
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

  /**
   * For how long writes of bars, or other calls, have failed, in milliseconds. Calls that succeed do not end a failure of
   * bars: on a full disk the counters of each second still fit into the free part of the file's log.
   */
  get failingMs(): number {
    return this.#queue.failingMs
  }

  waitingBytes(): ReadonlyMap<FeedKey, number> {
    return this.#queue.bytes()
  }

  /** Throws `Unavailable` when writes of bars have failed for too long, even if other writes succeed. */
  throwIfFailing(): void {
    if (this.failingMs > failingMsMax)
      throw new Unavailable(
        'store',
        new Error(`no bars were stored for ${Math.round(this.failingMs / 1_000)} s`),
      )
  }

  /** Resolves once all pieces are committed. Each has the bars of one feed. */
  async writeBars(pieces: readonly PackedRows[], lane: Lane, options: WriteOptions = {}): Promise<void> {
    const works = pieces.map((piece) => ({
      table: 'bars' as const,
      feed: piece.parts[0]?.series.feed,
      rows: piece.count,
      bytes: piece.fields,
      piece,
    }))
    await this.#submit(works, { lane, ...options })
  }

  async call<N extends keyof WriterCalls>(
    name: N,
    argument: Parameters<WriterCalls[N]>[0],
    lane: Lane,
  ): Promise<ReturnType<WriterCalls[N]>> {
    let answer: Promise<ReturnType<WriterCalls[N]>> | undefined
    const asked = () => (answer = this.#thread.call(name, argument))
    const run = name === 'ping' ? asked : () => this.#watch(asked())
    // As many rows as fit into a turn, so that it has a turn of its own.
    const work = { table: 'calls' as const, rows: rowsPerTurn, bytes: noBytes, run }
    await this.#submit([work], { lane, deadlineMs: writeDeadlineMs })
    return answer as Promise<ReturnType<WriterCalls[N]>>
  }

  /** As `call` of the live lane, repeated until it is done, the signal aborts or the store closes. */
  async callUntilDone<N extends keyof WriterCalls>(
    name: N,
    argument: Parameters<WriterCalls[N]>[0],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const isClosed = (): boolean => this.#isClosing
    await untilDone(() => this.call(name, argument, 'live'), { clock: this.#clock, isClosed, signal })
  }

  /** Resolves when no writes are left. Nothing is tried again. */
  async drain(): Promise<void> {
    this.#isClosing = true
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  async #submit(works: readonly FileWork[], options: SubmissionOptions): Promise<void> {
    if (works.length === 0) return
    const submission = new Submission<FileWork>(works, options, this.#clock)
    submission.onSettled = (cause) => {
      if (cause !== undefined) this.#refused += 1
      this.#queue.leave(submission)
    }
    const { done } = submission
    this.#open.add(done)
    const forget = (): void => void this.#open.delete(done)
    done.then(forget, forget)
    if (!submission.isSettled) this.#queue.enter(submission)
    this.#pump()
    await done
  }

  #pump(): void {
    while (this.#underWay < turnsUnderWay) {
      const turn = this.#queue.take()
      if (turn.length === 0) return
      this.#underWay += 1
      this.#run(turn).then(
        () => this.#stored(turn),
        (cause: unknown) => this.#failed(turn, cause),
      )
    }
  }

  async #run(turn: Turn): Promise<void> {
    const rows: PackedRows[] = []
    for (const { work } of turn) {
      if (work.table === 'calls') await work.run()
      else rows.push(work.piece)
    }
    if (rows.length === 0) return
    markStage('storing')
    await this.#watch(this.#thread.call('writeBars', rows))
    markStage('committed')
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

  #stored(turn: Turn): void {
    this.#queue.accepted(turn)
    if (isOfBars(turn)) this.#outage.worked('bars are stored again')
    for (const { submission } of turn) submission.stored()
    this.#next()
  }

  #failed(turn: Turn, cause: unknown): void {
    if (!isOfBars(turn)) for (const { submission } of turn) submission.fail(cause)
    else if (this.#isClosing) for (const submission of this.#queue.all()) submission.fail(cause)
    else this.#retry(turn, cause)
    this.#next()
  }

  #retry(turn: Turn, cause: unknown): void {
    this.#queue.retry(turn)
    const { failingMs } = this
    if (failingMs > failingMsMax)
      this.#outage.failed({
        text: 'store unavailable; no bars can be stored; the disk may be full',
        level: 'error',
        cause,
        failingMs,
      })
  }

  #next(): void {
    this.#underWay -= 1
    this.#pump()
  }
}

const isOfBars = (turn: Turn): boolean => turn.every(({ work }) => work.table === 'bars')

const noBytes = new Float64Array(0)
