import type { Lane } from '../core/bars/series.ts'
import { Unavailable } from '../core/failure.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { Clock } from '../ports/clock.ts'

/** Maximum rows queued or being written, per lane; a further write waits outside the queue until its deadline. */
export const rowsPerLane = 100_000
/** Deadline of a write, its waiting included. */
export const writeDeadlineMs = 30_000

const lanes: readonly Lane[] = ['live', 'backfill']

export interface SubmissionDeps {
  readonly lane: Lane
  /** Counts towards the bounds of its lane. */
  readonly rows: number
  readonly deadlineMs: number
  readonly clock: Clock
  /** Called once all works are committed, in a store that reports commits before the rows are readable. */
  readonly onCommitted?: (() => void) | undefined
}

/** The write of one caller, in one or more jobs. `done` rejects with `Unavailable`, at the deadline or before. */
export class Submission<Work> {
  readonly lane: Lane
  readonly works: readonly Work[]
  readonly rows: number
  readonly done: Promise<void>
  #left: number
  readonly #uncommitted: Set<Work>
  readonly #onCommitted: (() => void) | undefined
  #settled = false
  #settle: (cause?: unknown) => void = () => undefined

  constructor(works: readonly Work[], { lane, rows, deadlineMs, clock, onCommitted }: SubmissionDeps) {
    this.lane = lane
    this.works = works
    this.rows = rows
    this.#left = works.length
    this.#uncommitted = new Set(works)
    this.#onCommitted = onCommitted
    this.done = new Promise((resolve, reject) => {
      const late = new Error(`not written within ${Math.round(deadlineMs)} ms`)
      const cancelDeadline = clock.after(deadlineMs, () => this.settle(late))
      this.#settle = (cause) => {
        cancelDeadline()
        if (cause === undefined) resolve()
        else reject(cause instanceof Unavailable ? cause : new Unavailable('store', cause))
      }
    })
  }

  /** `done` is settled: jobs that are left need not be done. */
  get settled(): boolean {
    return this.#settled
  }

  /** This work is committed, but perhaps not readable; has no effect when called again. */
  committed(work: Work): void {
    if (this.#settled || !this.#uncommitted.delete(work)) return
    if (this.#uncommitted.size === 0) this.#onCommitted?.()
  }

  /** One more job is done. */
  stored(): void {
    this.#left -= 1
    if (this.#left === 0) this.settle()
  }

  /** Fails the submission, or ends it without a cause; has no effect when called again. */
  settle(cause?: unknown): void {
    if (this.#settled) return
    this.#settled = true
    this.#settle(cause)
    this.onSettled(cause)
  }

  onSettled: (cause?: unknown) => void = () => undefined
}

export interface Job<Work> {
  readonly submission: Submission<Work>
  readonly work: Work
}

export interface WriteQueueLimits<Work> {
  /** Maximum rows that one `take` returns; it returns larger work alone. */
  readonly rowsPerTake: number
  readonly rowsOf: (work: Work) => number
  /** Maximum rows that wait outside the queue, per lane; a further submission fails at once. */
  readonly rowsOutsideMax: number
}

interface LaneQueue<Work> {
  readonly capacity: Semaphore
  readonly jobs: Job<Work>[]
  /** For each submission, inside or outside the queue, the function that removes it. */
  readonly removals: Map<Submission<Work>, () => void>
  rowsInside: number
  rowsOutside: number
}

const newLane = <Work>(): LaneQueue<Work> => ({
  capacity: new Semaphore(rowsPerLane),
  jobs: [],
  removals: new Map(),
  rowsInside: 0,
  rowsOutside: 0,
})

/** Orders the writes of a store: live before backfill, each lane first come, first served and bounded in rows. */
export class WriteQueue<Work> {
  readonly #limits: WriteQueueLimits<Work>
  readonly #lanes: Readonly<Record<Lane, LaneQueue<Work>>> = { live: newLane(), backfill: newLane() }

  constructor(limits: WriteQueueLimits<Work>) {
    this.#limits = limits
  }

  /** Queues a submission, outside while its lane is full. Fails it when too many rows wait outside already. */
  enter(submission: Submission<Work>): void {
    const { rows, works } = submission
    const lane = this.#lanes[submission.lane]
    // A submission that is larger than the bound waits alone.
    if (lane.rowsOutside > 0 && lane.rowsOutside + rows > this.#limits.rowsOutsideMax) {
      const full = `the queue of the ${submission.lane} lane is full (${this.rows(submission.lane)} rows): try again later`
      return submission.settle(new Error(full))
    }
    let isInside = false
    lane.rowsOutside += rows
    const cancel = lane.capacity.queue(rows, () => {
      isInside = true
      lane.rowsOutside -= rows
      lane.rowsInside += rows
      for (const work of works) lane.jobs.push({ submission, work })
    })
    lane.removals.set(submission, () => {
      if (isInside) {
        lane.rowsInside -= rows
        lane.capacity.leave(rows)
      } else {
        lane.rowsOutside -= rows
        cancel()
      }
    })
  }

  /** Frees the capacity of a settled submission, inside or outside the queue, and the oldest jobs if they are settled. */
  leave(submission: Submission<Work>): void {
    const { removals, jobs } = this.#lanes[submission.lane]
    while (jobs[0]?.submission.settled) jobs.shift()
    const remove = removals.get(submission)
    removals.delete(submission)
    remove?.()
  }

  /** The next jobs of one lane; none when no job waits. Jobs of settled submissions are dropped. */
  take(): readonly Job<Work>[] {
    const { rowsPerTake, rowsOf } = this.#limits
    for (const lane of lanes) {
      const { jobs } = this.#lanes[lane]
      const taken: Job<Work>[] = []
      let rows = 0
      for (let next = jobs[0]; next !== undefined; next = jobs[0]) {
        const count = rowsOf(next.work)
        if (!next.submission.settled && rows > 0 && rows + count > rowsPerTake) break
        jobs.shift()
        if (next.submission.settled) continue
        taken.push(next)
        rows += count
      }
      if (taken.length > 0) return taken
    }
    return []
  }

  /** Puts jobs that failed to the front of their lanes. */
  putBack(jobs: readonly Job<Work>[]): void {
    for (const lane of lanes)
      this.#lanes[lane].jobs.unshift(...jobs.filter(({ submission }) => submission.lane === lane))
  }

  /** All submissions that have not left, inside and outside. */
  all(): readonly Submission<Work>[] {
    return lanes.flatMap((lane) => [...this.#lanes[lane].removals.keys()])
  }

  /** Rows that wait outside or inside, or are being written. */
  rows(lane: Lane): number {
    return this.#lanes[lane].rowsInside + this.#lanes[lane].rowsOutside
  }
}
