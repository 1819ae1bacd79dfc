import type { Clock } from '../../../ports/clock.ts'
import { type Piece, tablesOf } from './submission.ts'
import type { Visibility } from './visibility.ts'
import type { WriterMetrics } from './writer-metrics.ts'

export interface AckDeps {
  readonly clock: Clock
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  /** Called when a table is missing that existed before. */
  readonly tableGone: () => void
}

/** Acknowledges committed pieces once they are readable. The next request does not wait for that. */
export class Acks {
  readonly #deps: AckDeps

  constructor(deps: AckDeps) {
    this.#deps = deps
  }

  /** `begun` and `since`: the time, and the number of replaced tables, before the rows were sent. */
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

  /** When some tables of a request are not readable, only their pieces fail. */
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
