import type { Lane } from '../../core/bars/series.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { Backoff } from '../../platform/backoff.ts'
import { WriteOutage } from '../../platform/write-outage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Job, Submission, Work } from './submission.ts'
import { retryPauses } from './until-done.ts'

/** Maximum rows of the backfill lane that wait; a further write fails at once. Ingest bounds the live lane. */
export const backfillRowsMax = 400_000

const lanes: readonly Lane[] = ['live', 'backfill']

interface WriteQueueDeps {
  readonly clock: Clock
  /** Maximum rows that one `take` returns; it returns larger work alone. */
  readonly rowsPerTake: number
  /** Called when a table may be tried again. */
  readonly onReady: () => void
}

interface TableQueue<W extends Work> {
  readonly jobs: Record<Lane, Job<W>[]>
  readonly retries: Backoff
  readonly outage: WriteOutage
  /** Its last request failed: it is taken alone, so that no other table fails with it. */
  hasFailed: boolean
  isPaused: boolean
}

/**
 * Orders the writes of a store: live before backfill, first come, first served in each table, and tables take turns. A
 * table that fails is tried again after its own pause, while other tables go on.
 */
export class WriteQueue<W extends Work> {
  readonly #deps: WriteQueueDeps
  readonly #tables = new Map<string, TableQueue<W>>()
  readonly #submissions = new Set<Submission<W>>()
  readonly #rows: Record<Lane, number> = { live: 0, backfill: 0 }
  readonly #bytes = new Map<FeedKey, number>()

  constructor(deps: WriteQueueDeps) {
    this.#deps = deps
  }

  /** Fails the submission when too many rows of the backfill lane wait. */
  enter(submission: Submission<W>): void {
    const { lane, rows, works } = submission
    const waiting = this.#rows[lane]
    // A submission that is larger than the bound waits alone.
    if (lane === 'backfill' && waiting > 0 && waiting + rows > backfillRowsMax)
      return submission.fail(
        new Error(`the queue of the backfill lane is full (${waiting} rows): try again later`),
      )
    this.#submissions.add(submission)
    this.#count(submission, 1)
    for (const work of works) this.#tableOf(work.table).jobs[lane].push({ submission, work })
  }

  /** Forgets a settled submission, and what waits of it. */
  leave(submission: Submission<W>): void {
    if (!this.#submissions.delete(submission)) return
    this.#count(submission, -1)
    const { lane, works } = submission
    for (const work of works) {
      const { jobs } = this.#tableOf(work.table)
      if (jobs[lane].some((job) => job.work === work))
        jobs[lane] = jobs[lane].filter((job) => job.submission !== submission)
    }
  }

  /** The next jobs, all of one lane; none when no job of a ready table waits. */
  take(isReady: (table: string) => boolean = () => true): readonly Job<W>[] {
    for (const lane of lanes) {
      const taken: Job<W>[] = []
      let left = this.#deps.rowsPerTake
      const served: [string, TableQueue<W>][] = []
      for (const [table, queue] of this.#tables) {
        if (queue.jobs[lane].length === 0 || queue.isPaused || !isReady(table)) continue
        if (queue.hasFailed && taken.length > 0) continue
        const own = firstJobs(queue.jobs[lane], left, taken.length > 0)
        if (own.length === 0) continue
        served.push([table, queue])
        queue.outage.asked()
        for (const { submission } of own) submission.begun()
        taken.push(...own)
        left -= own.reduce((sum, { work }) => sum + work.rows, 0)
        if (queue.hasFailed) break
      }
      // They are last in the next take.
      for (const [table, queue] of served) {
        this.#tables.delete(table)
        this.#tables.set(table, queue)
      }
      if (taken.length > 0) return taken
    }
    return []
  }

  accepted(jobs: readonly Job<W>[]): void {
    for (const table of tablesOf(jobs)) {
      const queue = this.#tableOf(table)
      queue.retries.reset()
      queue.outage.answered()
      queue.hasFailed = false
    }
  }

  /** Puts jobs to the front of their tables, which are tried again after a pause, by default one that grows. */
  retry(jobs: readonly Job<W>[], pauseMs?: number): void {
    for (const table of tablesOf(jobs)) {
      const queue = this.#tableOf(table)
      queue.hasFailed = true
      queue.isPaused = true
      this.#deps.clock.after(pauseMs ?? queue.retries.nextMs(), () => {
        queue.isPaused = false
        this.#deps.onReady()
      })
    }
    this.putBack(jobs)
  }

  /** Puts jobs to the front of their tables. */
  putBack(jobs: readonly Job<W>[]): void {
    for (const job of jobs.toReversed()) {
      const { submission, work } = job
      if (!submission.isOver) this.#tableOf(work.table).jobs[submission.lane].unshift(job)
      submission.delayed()
    }
  }

  /** All submissions that are not settled. */
  all(): readonly Submission<W>[] {
    return [...this.#submissions]
  }

  /** Rows that wait or are being written. */
  rows(lane: Lane): number {
    return this.#rows[lane]
  }

  /** Bytes that wait or are being written, of each feed with any. */
  bytes(): ReadonlyMap<FeedKey, number> {
    return this.#bytes
  }

  /** Whether the last request failed of any table for which rows wait. */
  get hasFailed(): boolean {
    const failed = [...this.#tables].flatMap(([table, { hasFailed }]) => (hasFailed ? [table] : []))
    return (
      failed.length > 0 && this.all().some(({ works }) => works.some(({ table }) => failed.includes(table)))
    )
  }

  /** For how many milliseconds the store has taken nothing of the table that fails for longest. */
  get failingMs(): number {
    return Math.max(0, ...[...this.#tables.values()].map(({ outage }) => outage.ms))
  }

  #count({ lane, rows, works }: Submission<W>, sign: 1 | -1): void {
    this.#rows[lane] += sign * rows
    for (const { feed, bytes } of works) {
      if (feed === undefined) continue
      const sum = (this.#bytes.get(feed) ?? 0) + sign * bytes.byteLength
      if (sum === 0) this.#bytes.delete(feed)
      else this.#bytes.set(feed, sum)
    }
  }

  #tableOf(table: string): TableQueue<W> {
    const known = this.#tables.get(table)
    if (known !== undefined) return known
    const { clock } = this.#deps
    const made: TableQueue<W> = {
      jobs: { live: [], backfill: [] },
      retries: new Backoff(clock, retryPauses),
      outage: new WriteOutage(clock),
      hasFailed: false,
      isPaused: false,
    }
    this.#tables.set(table, made)
    return made
  }
}

export const tablesOf = <W extends Work>(jobs: readonly Job<W>[]): ReadonlySet<string> =>
  new Set(jobs.map(({ work }) => work.table))

/** Takes the first jobs out of the list, up to this number of rows. Larger work is returned alone. */
function firstJobs<W extends Work>(jobs: Job<W>[], rowsMax: number, isBounded: boolean): readonly Job<W>[] {
  let rows = 0
  let end = 0
  for (const { submission, work } of jobs) {
    if (!submission.isOver) {
      if ((isBounded || rows > 0) && rows + work.rows > rowsMax) break
      rows += work.rows
    }
    end += 1
  }
  return jobs.splice(0, end).filter(({ submission }) => !submission.isOver)
}
