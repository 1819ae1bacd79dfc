import type { SeriesBars } from '../../core/bars/series.ts'
import type { BarStore } from '../../ports/bars.ts'

/**
 * Live bars of one feed that were published and whose write failed: readers of this process have them
 * from the tail of the bus alone. While there are any no live session begins, so nothing says that the
 * store shows them, and they are never more than one session had under way.
 */
export class Unstored {
  readonly #batches = new Set<readonly SeriesBars[]>()

  get isEmpty(): boolean {
    return this.#batches.size === 0
  }

  add(batch: readonly SeriesBars[]): void {
    this.#batches.add(batch)
  }

  /** Resolves once all are stored; on an error the rest stays for the next time. */
  async write(store: Pick<BarStore, 'write'>): Promise<void> {
    for (const batch of this.#batches) {
      await store.write(batch, 'live')
      this.#batches.delete(batch)
    }
  }
}
