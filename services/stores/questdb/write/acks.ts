import type { Clock } from '../../../ports/clock.ts'
import { type Piece, tablesOf } from './submission.ts'
import type { Visibility } from './visibility.ts'
import type { WriterMetrics } from './writer-metrics.ts'

export interface AckDeps {
  readonly clock: Clock
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  /** A table that was there is not there any more. */
  readonly tableGone: () => void
}

/** Tells callers of committed pieces once these can be read; the next request does not wait for that. */
export class Acks {
  readonly #deps: AckDeps

  constructor(deps: AckDeps) {
    this.#deps = deps
  }

  /** `begun` and `since`: the time, and the replacements of tables seen, before the rows were sent. */
  committed(pieces: readonly Piece[], begun: number, since: number): void {
    const { clock, metrics, visibility } = this.#deps
    metrics.ack.observe((clock.monotonicMs() - begun) / 1_000)
    visibility.wait(tablesOf(pieces), since).then(
      () => {
        metrics.visible.observe((clock.monotonicMs() - begun) / 1_000)
        for (const { submission } of pieces) submission.stored()
      },
      (cause: unknown) => this.#notVisible(pieces, cause, since),
    )
  }

  /** Of a request that touched several tables only what went into the unreadable ones has failed. */
  #notVisible(pieces: readonly Piece[], cause: unknown, since: number): void {
    this.#deps.tableGone()
    for (const { submission, work } of pieces) {
      this.#deps.visibility.wait([work.table], since).then(
        () => submission.stored(),
        (own: unknown) => submission.settle(own ?? cause),
      )
    }
  }
}
