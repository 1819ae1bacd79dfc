import type { Window } from '../../core/bars/window.ts'
import type { Precedes } from './precedes.ts'

interface Earlier {
  readonly precedes: Precedes
  /** Never rejects. From here on no window that came after it waits for it. */
  readonly passed: Promise<unknown>
}

/** What one session received and has not answered yet. */
export class InFlight {
  readonly #failed: (cause: unknown) => void
  readonly #eased: () => void
  readonly #earlier = new Map<Promise<void>, Earlier>()

  /** `failed` is told why something cannot be answered; `eased` is called after each answer. */
  constructor(failed: (cause: unknown) => void, eased: () => void) {
    this.#failed = failed
    this.#eased = eased
  }

  /** `passed`: when later windows need not wait for it any more; by default once it was answered. */
  track(work: Promise<unknown>, precedes: Precedes, after: () => void, passed?: Promise<unknown>): void {
    const tracked = work
      .then(() => undefined, this.#failed)
      .finally(() => {
        this.#earlier.delete(tracked)
        after()
        this.#eased()
      })
    this.#earlier.set(tracked, { precedes, passed: passed ?? tracked })
  }

  /** Resolves, never rejects, when all that must be committed before the window is, or failed. */
  async before(window: Window): Promise<void> {
    const all = [...this.#earlier.values()].filter(({ precedes }) => precedes(window))
    await Promise.all(all.map(({ passed }) => passed))
  }

  /** Resolves when everything is answered, or cannot be. */
  async settle(): Promise<void> {
    while (this.#earlier.size > 0) await Promise.all(this.#earlier.keys())
  }
}
