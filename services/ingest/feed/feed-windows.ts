import type { Window } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { WindowStore } from '../../ports/windows.ts'

/** The windows of one feed on their way to the store: one write at a time, which takes all that wait. */
export class FeedWindows {
  readonly #feed: FeedKey
  readonly #store: WindowStore
  #watchedUntil = feedSeconds(0)
  #waiting: Window[] = []
  readonly #writes = new SharedRun(() => this.#write())

  constructor(feed: FeedKey, store: WindowStore) {
    this.#feed = feed
    this.#store = store
  }

  /** All windows that are stored. */
  async load(): Promise<readonly Window[]> {
    const windows = await this.#store.of(this.#feed)
    for (const window of windows) this.expect(window)
    return windows
  }

  /** The end of the last feed-wide window of any resolution; 0 when there is none. */
  get watchedUntil(): FeedSeconds {
    return this.#watchedUntil
  }

  /** Resolves after the commit; rejects when the store did not take it. What comes during a write shares the next one. */
  add(window: Window): Promise<void> {
    this.#waiting.push(window)
    return this.#writes.run()
  }

  /** Resolves once nothing is on its way to the store. */
  settled(): Promise<void> {
    return this.#writes.ended()
  }

  /** Received, and added later: no symbol that is listed from now on was watched in it. */
  expect({ symbol, to }: Window): void {
    if (symbol === undefined) this.#watchedUntil = feedSeconds(Math.max(this.#watchedUntil, to))
  }

  #write(): Promise<void> {
    const windows = this.#waiting
    this.#waiting = []
    return this.#store.add(windows)
  }
}
