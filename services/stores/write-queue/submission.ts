import type { Lane } from '../../core/bars/series.ts'
import { Unavailable } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'

/** Deadline of a small write that does not wait for the store, such as a change of the registry. */
export const writeDeadlineMs = 30_000

/** Rows that are stored together. */
export interface Work {
  /** What fails and is tried again together. */
  readonly table: string
  readonly feed?: FeedKey | undefined
  readonly rows: number
  readonly bytes: { readonly byteLength: number }
}

export interface SubmissionOptions {
  readonly lane: Lane
  /** `undefined`: it waits until it is stored. */
  readonly deadlineMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Called once all works are committed, in a store that reports commits before the rows are readable. */
  readonly onCommitted?: (() => void) | undefined
}

/** The write of one caller, in one or more jobs. */
export class Submission<W extends Work> {
  readonly lane: Lane
  readonly works: readonly W[]
  readonly rows: number
  /** Rejects with `Unavailable`, or with the reason of the signal. */
  readonly done: Promise<void>
  onSettled: (cause?: unknown) => void = () => undefined
  readonly #uncommitted: Set<W>
  readonly #options: SubmissionOptions
  #left: number
  #underWay = 0
  #isDropped = false
  #settle: ((cause?: Error) => void) | undefined

  constructor(works: readonly W[], options: SubmissionOptions, clock: Clock) {
    const { lane, deadlineMs, signal } = options
    this.lane = lane
    this.works = works
    this.rows = works.reduce((sum, { rows }) => sum + rows, 0)
    this.#uncommitted = new Set(works)
    this.#options = options
    this.#left = works.length
    this.done = new Promise((resolve, reject) => {
      const late = (): void => this.fail(new Error(`not written within ${deadlineMs} ms`))
      const cancelDeadline = deadlineMs === undefined ? undefined : clock.after(deadlineMs, late)
      const drop = (): void => {
        this.#isDropped = true
        this.#endIfDropped()
      }
      signal?.addEventListener('abort', drop)
      this.#settle = (cause) => {
        this.#settle = undefined
        cancelDeadline?.()
        signal?.removeEventListener('abort', drop)
        if (cause === undefined) resolve()
        else reject(cause)
        this.onSettled(cause)
      }
      if (signal?.aborted) drop()
    })
  }

  get isSettled(): boolean {
    return this.#settle === undefined
  }

  /** Jobs that are left are not done any more. */
  get isOver(): boolean {
    return this.#isDropped || this.isSettled
  }

  begun(): void {
    this.#underWay += 1
  }

  /** This work is committed, but perhaps not readable; has no effect when called again. */
  committed(work: W): void {
    if (this.isSettled || !this.#uncommitted.delete(work)) return
    if (this.#uncommitted.size === 0) this.#options.onCommitted?.()
  }

  stored(): void {
    this.#left -= 1
    this.#underWay -= 1
    if (this.#left === 0) this.#settle?.()
    else this.#endIfDropped()
  }

  /** A job under way failed, and is done later. */
  delayed(): void {
    this.#underWay -= 1
    this.#endIfDropped()
  }

  fail(cause: unknown): void {
    this.#settle?.(cause instanceof Unavailable ? cause : new Unavailable('store', cause))
  }

  /** What is being stored ends first: after the rejection nothing more of the write is stored. */
  #endIfDropped(): void {
    if (this.#isDropped && this.#underWay === 0) this.#settle?.(this.#options.signal?.reason as Error)
  }
}

export interface Job<W extends Work> {
  readonly submission: Submission<W>
  readonly work: W
}
