import type { Clock } from '../../../ports/clock.ts'
import type { Job } from '../../write-queue/submission.ts'
import type { EncodedRows } from './rows.ts'
import type { Visibility } from './visibility.ts'
import type { WriterMetrics } from './writer-metrics.ts'

/** Rows of one table that one caller wants stored. */
export type Piece = Job<EncodedRows>

interface AckDeps {
  readonly clock: Clock
  readonly visibility: Visibility
  readonly metrics: WriterMetrics
  /** Takes committed pieces that may not be in their table: they are sent again. */
  readonly lost: (pieces: readonly Piece[]) => void
}

interface BeforeSending {
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
    const { clock, metrics, visibility, lost } = this.#deps
    const seconds = (): number => (clock.monotonicMs() - begunMs) / 1_000
    metrics.ack.observe(seconds())
    for (const [table, own] of Map.groupBy(pieces, ({ work }) => work.table)) {
      const commit = (): void => {
        for (const { submission, work } of own) submission.committed(work)
      }
      visibility.wait([table], replacements, commit).then(
        () => {
          metrics.visible.observe(seconds())
          for (const { submission } of own) submission.stored()
        },
        () => lost(own),
      )
    }
  }
}
