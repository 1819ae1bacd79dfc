import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { EncodedRows } from './rows.ts'

/** Rows that one caller wants stored, and how it hears of them: `done` rejects with `Unavailable`. */
export class Submission {
  readonly lane: Lane
  readonly pieces: readonly EncodedRows[]
  readonly rows: number
  readonly done: Promise<void>
  #left: number
  #settled = false
  #settle: (cause?: unknown) => void = () => undefined

  constructor(pieces: readonly EncodedRows[], lane: Lane, clock: Clock, deadlineMs: number) {
    this.lane = lane
    this.pieces = pieces
    this.rows = pieces.reduce((sum, { ends }) => sum + ends.length, 0)
    this.#left = pieces.length
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

  /** The caller has heard: nothing more need be done for it. */
  get settled(): boolean {
    return this.#settled
  }

  /** One more piece can be read. */
  stored(): void {
    this.#left -= 1
    if (this.#left === 0) this.settle()
  }

  settle(cause?: unknown): void {
    if (this.#settled) return
    this.#settled = true
    this.#settle(cause)
    this.onSettled()
  }

  onSettled: () => void = () => undefined
}

/** Rows of one table. */
export interface Piece {
  readonly submission: Submission
  readonly rows: EncodedRows
}

export const tablesOf = (pieces: readonly Piece[]): ReadonlySet<string> =>
  new Set(pieces.map(({ rows }) => rows.table))
