import type { Resumption } from './resumption.ts'
import type { Piece } from './submission.ts'
import { suspendedError, type Visibility } from './visibility.ts'

/** A suspended table would take the rows, show nothing and grow: its writers are told at once. */
export class Suspended {
  readonly #visibility: Visibility
  readonly #resumption: Resumption

  constructor(visibility: Visibility, resumption: Resumption) {
    this.#visibility = visibility
    this.#resumption = resumption
  }

  /** Whether the piece is of such a table, as of the last look; fails its submission then. */
  fails({ submission, rows: { table } }: Piece): boolean {
    const isSuspended = this.#visibility.suspended.has(table)
    if (isSuspended) {
      this.#resumption.wanted(table)
      submission.settle(suspendedError(table))
    } else this.#resumption.forget(table)
    return isSuspended
  }
}
