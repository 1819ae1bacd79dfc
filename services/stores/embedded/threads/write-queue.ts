import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import type { Log } from '../../../platform/log/log.ts'
import { Semaphore } from '../../../platform/semaphore.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { PackedRows } from '../file/packed-rows.ts'
import { BarWrites } from './bar-writes.ts'
import type { Thread } from './thread.ts'
import type { WriterCalls } from './writer.ts'

/** Rows of one transaction: a live bar never waits for more than the turns under way. */
export const rowsPerTurn = 2_000
/** Two, so that the writer has its next turn at hand when it has committed one. */
const turnsUnderWay = 2
/** Rows that wait or are being written, per lane; a writer beyond that waits. */
export const rowsPerLane = 100_000
export const writeDeadlineMs = 30_000
/** When a turn under way counts as lost; longer, so that nothing more is sent to a writer that hangs. */
export const turnDeadlineMs = 2 * writeDeadlineMs

/** What a caller waits for: one or more jobs, each done in one transaction. */
interface Submission {
  left: number
  settled: boolean
  readonly settle: (cause?: unknown) => void
}

interface Job {
  readonly submission: Submission
  /** Bars, which share a transaction with others that wait, or any other call, which has its own. */
  readonly work: PackedRows | (() => Promise<unknown>)
}

/** Orders the writer's work: the live lane before the backfill lane, both bounded. */
export class WriteQueue {
  readonly #writer: Thread<WriterCalls>
  readonly #clock: Clock
  readonly #bars: BarWrites
  readonly #waiting: Record<Lane, Job[]> = { live: [], backfill: [] }
  readonly #rows: Record<Lane, Semaphore> = {
    live: new Semaphore(rowsPerLane),
    backfill: new Semaphore(rowsPerLane),
  }
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

  /** Writes that failed or were not done within their deadline. */
  get refused(): number {
    return this.#refused
  }

  /** The last write that the writer was asked for failed: the disk may be full. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  /** For how long there were bars to store and none could be stored. */
  get barsFailingMs(): number {
    return this.#bars.failingMs
  }

  /** Throws where that is too long, whatever else the file takes. */
  refuseTrouble(): void {
    this.#bars.refuseTrouble()
  }

  /** Resolves once all pieces are committed. */
  writeBars(pieces: readonly PackedRows[], lane: Lane): Promise<void> {
    const weight = pieces.reduce((sum, { count }) => sum + count, 0)
    return this.#submit(pieces, lane, weight)
  }

  /** Any other call of the writer, in its turn; `weight` is how many rows it stands for. */
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

  /** Resolves when nothing is left to write. */
  async drain(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open)
  }

  #submit(works: readonly Job['work'][], lane: Lane, weight: number): Promise<void> {
    if (works.length === 0) return Promise.resolve()
    const written = new Promise<void>((resolve, reject) => {
      let waitsOutside = true
      const settle = (cause?: unknown): void => {
        if (submission.settled) return
        submission.settled = true
        cancelDeadline()
        if (waitsOutside) cancelWait()
        else this.#rows[lane].leave(weight)
        if (cause !== undefined) this.#refused += 1
        if (cause === undefined) resolve()
        else reject(cause instanceof Unavailable ? cause : new Unavailable('store', cause))
      }
      const submission: Submission = { left: works.length, settled: false, settle }
      const late = new Error(`not written within ${writeDeadlineMs} ms`)
      const cancelDeadline = this.#clock.after(writeDeadlineMs, () => settle(late))
      const cancelWait = this.#rows[lane].queue(weight, () => {
        waitsOutside = false
        for (const work of works) this.#waiting[lane].push({ submission, work })
        this.#pump()
      })
    })
    this.#open.add(written)
    const forget = (): void => void this.#open.delete(written)
    written.then(forget, forget)
    return written
  }

  #pump(): void {
    while (this.#underWay < turnsUnderWay) {
      const turn = takeTurn(this.#waiting.live) ?? takeTurn(this.#waiting.backfill)
      if (turn === undefined) return
      this.#underWay += 1
      this.#run(turn).then(
        () => this.#done(turn),
        (cause: unknown) => this.#done(turn, cause),
      )
    }
  }

  async #run(turn: readonly Job[]): Promise<void> {
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

  #done(turn: readonly Job[], cause?: unknown): void {
    this.#underWay -= 1
    for (const { submission } of turn) {
      submission.left -= 1
      if (cause !== undefined || submission.left === 0) submission.settle(cause)
    }
    this.#pump()
  }
}

/** The next call, or bars up to one transaction's worth; what was given up meanwhile is dropped. */
function takeTurn(waiting: Job[]): readonly Job[] | undefined {
  const turn: Job[] = []
  let rows = 0
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    const weight = typeof next.work === 'function' ? rowsPerTurn : next.work.count
    if (rows > 0 && rows + weight > rowsPerTurn && !next.submission.settled) break
    waiting.shift()
    if (next.submission.settled) continue
    turn.push(next)
    rows += weight
  }
  return turn.length === 0 ? undefined : turn
}
