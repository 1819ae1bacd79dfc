import type { FeedKey } from '../core/compound-key.ts'
import { joinSpans } from '../core/coverage.ts'
import { type FeedSeconds, feedSeconds } from '../core/feed-clock.ts'
import type { Resolution } from '../core/resolution.ts'
import type { Span, Window } from '../core/window.ts'
import type { WindowStore } from '../ports/windows.ts'

/** Feed-wide windows come every minute and grow at one end: written so often, a crash costs one reading of so much. */
export const windowsFlushMs = 60_000

/** The acknowledged windows of one feed on their way to the store. */
export class FeedWindows {
  readonly #feed: FeedKey
  readonly #store: WindowStore
  /** Feed-wide ones, extended in memory. */
  #growing = new Map<Resolution, Span[]>()
  #watchedUntil = feedSeconds(0)
  #waiting: Window[] = []
  #next: Promise<void> | undefined
  #underWay: Promise<void> = Promise.resolve()
  #flushing: Promise<void> = Promise.resolve()

  constructor(feed: FeedKey, store: WindowStore) {
    this.#feed = feed
    this.#store = store
  }

  /** All windows there are, with what grew in memory written first. */
  async load(): Promise<readonly Window[]> {
    await this.flush()
    const windows = await this.#store.of(this.#feed)
    for (const { symbol, to } of windows) if (symbol === undefined) this.#watched(to)
    return windows
  }

  /** The end of the last feed-wide window of any resolution; 0 when there is none. */
  get watchedUntil(): FeedSeconds {
    return this.#watchedUntil
  }

  /** Resolves after the commit; what comes while a write is under way shares the next one. */
  add(window: Window): Promise<void> {
    this.#waiting.push(window)
    this.#next ??= this.#underWay.then(() => this.#write())
    return this.#next
  }

  /** A feed-wide window, kept in memory until the next flush. */
  extend(resolution: Resolution, span: Span): void {
    this.#growing.set(resolution, joinSpans([...(this.#growing.get(resolution) ?? []), span]))
    this.#watched(span.to)
  }

  /** Writes what grew in memory; on an error it stays there for the next time. */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#flush())
    this.#flushing = flushed.catch(() => undefined)
    return flushed
  }

  /** Drops what grew in memory; resolves once nothing is on its way to the store. */
  async discard(): Promise<void> {
    await Promise.all([this.#flushing, this.#underWay])
    this.#growing = new Map()
  }

  async #flush(): Promise<void> {
    const windows: Window[] = [...this.#growing].flatMap(([resolution, spans]) =>
      spans.map((span) => ({ feed: this.#feed, symbol: undefined, resolution, ...span })),
    )
    if (windows.length === 0) return
    this.#growing = new Map()
    try {
      await this.#store.add(windows)
    } catch (cause) {
      for (const { resolution, from, to } of windows) this.extend(resolution, { from, to })
      throw cause
    }
  }

  #watched(until: FeedSeconds): void {
    this.#watchedUntil = feedSeconds(Math.max(this.#watchedUntil, until))
  }

  #write(): Promise<void> {
    const windows = this.#waiting
    this.#waiting = []
    this.#next = undefined
    const written = this.#store.add(windows)
    this.#underWay = written.catch(() => undefined)
    return written
  }
}
