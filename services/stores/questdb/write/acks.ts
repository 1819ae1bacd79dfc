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

export interface BeforeSending {
  /** Monotonic time before the rows were sent. */
  readonly begunMs: number
  /** `Visibility.replacements` before the rows were sent. */
  readonly replacements: number
}

/** Reports pieces as committed, and as stored once they are readable. The next request does not wait for that. */
export class Acks {
  readonly #deps: AckDeps

  constructor(deps: AckDeps) {
    this.#deps = deps
  }

  committed(pieces: readonly Piece[], { begunMs, replacements }: BeforeSending): void {
    const { clock, metrics, visibility } = this.#deps
    metrics.ack.observe((clock.monotonicMs() - begunMs) / 1_000)
    const commit = (of: readonly Piece[]): void => {
      for (const { submission, work } of of) submission.committed(work)
    }
    visibility
      .wait(tablesOf(pieces), replacements, () => commit(pieces))
      .then(
        () => {
          metrics.visible.observe((clock.monotonicMs() - begunMs) / 1_000)
          for (const { submission } of pieces) submission.stored()
        },
        (cause: unknown) => this.#notVisible(pieces, cause, replacements),
      )
  }

  /** When some tables of a request are not readable, only their pieces fail. */
  #notVisible(pieces: readonly Piece[], cause: unknown, replacements: number): void {
    this.#deps.tableGone()
    for (const { submission, work } of pieces) {
      const commit = (): void => submission.committed(work)
      this.#deps.visibility.wait([work.table], replacements, commit).then(
        () => submission.stored(),
        (own: unknown) => submission.settle(own ?? cause),
      )
    }
  }
}
