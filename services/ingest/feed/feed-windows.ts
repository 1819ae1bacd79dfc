import type { Window } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { WindowStore } from '../../ports/windows.ts'

/** Writes the windows of one feed: one write at a time, with all windows that wait. */
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

  /** Reads all stored windows. */
  async load(): Promise<readonly Window[]> {
    const windows = await this.#store.of(this.#feed)
    for (const window of windows) this.expect(window)
    return windows
  }

  /** The greatest end of all feed-wide windows of any resolution; 0 without one. */
  get watchedUntil(): FeedSeconds {
    return this.#watchedUntil
  }

  /** Resolves after the commit; rejects if the write failed. Windows added during a write share the next write. */
  add(window: Window): Promise<void> {
    this.#waiting.push(window)
    return this.#writes.run()
  }

  /** Resolves once no write is in flight or waiting. */
  settled(): Promise<void> {
    return this.#writes.ended()
  }

  /** Notes a received window that is stored later: it does not cover symbols that are listed from now on. */
  expect({ symbol, to }: Window): void {
    if (symbol === undefined) this.#watchedUntil = feedSeconds(Math.max(this.#watchedUntil, to))
  }

  #write(): Promise<void> {
    const windows = this.#waiting
    this.#waiting = []
    return this.#store.add(windows)
  }
}
