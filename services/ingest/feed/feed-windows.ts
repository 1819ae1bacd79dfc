import { joinSpans } from '../../core/bars/coverage.ts'
import { type Span, type Window, windowSeriesId } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { separateWindowsMax } from '../check/check-window.ts'

/** Writes the windows of one feed: one write at a time, with all windows that wait. */
export class FeedWindows {
  readonly #feed: FeedKey
  readonly #store: WindowStore
  #watchedUntil = feedSeconds(0)
  /** The stored and the expected windows of each series, joined. */
  #joined = new Map<string, readonly Span[]>()
  #waiting: Window[] = []
  readonly #writes = new SharedRun(() => this.#write())

  constructor(feed: FeedKey, store: WindowStore) {
    this.#feed = feed
    this.#store = store
  }

  /** Reads all stored windows. */
  async load(): Promise<readonly Window[]> {
    const windows = await this.#store.of(this.#feed)
    this.#joined = Map.groupBy(windows, windowSeriesId)
    for (const window of windows) this.#watch(window)
    return windows
  }

  /** Frees what `load` reads again. */
  unload(): void {
    this.#joined.clear()
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

  /**
   * Call it for a received window before the window is stored. The window does not cover symbols that are
   * listed from now on. Returns false for a window beyond `separateWindowsMax`, which must not be stored.
   */
  reserve(window: Window): boolean {
    const series = windowSeriesId(window)
    const joined = this.#joined.get(series) ?? []
    const apart = joined.filter(({ from, to }) => to < window.from || from > window.to)
    if (apart.length === joined.length && joined.length >= separateWindowsMax) return false
    const touching = joined.filter(({ from, to }) => to >= window.from && from <= window.to)
    this.#joined.set(series, [...apart, ...joinSpans([...touching, window])])
    this.#watch(window)
    return true
  }

  #watch({ symbol, to }: Window): void {
    if (symbol === undefined) this.#watchedUntil = feedSeconds(Math.max(this.#watchedUntil, to))
  }

  #write(): Promise<void> {
    const windows = this.#waiting
    this.#waiting = []
    return this.#store.add(windows)
  }
}
