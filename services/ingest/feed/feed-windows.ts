import { gridSeconds } from '../../core/bars/bar-rules.ts'
import { joinSpans, withTouching } from '../../core/bars/coverage.ts'
import { type Span, type Window, windowSeriesId } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { WindowStore } from '../../ports/windows.ts'
import { feedWindowsMax, separateWindowsMax } from '../check/check-window.ts'
import { type SeriesSpans, type SinceOf, separateWindows } from './separate-windows.ts'

/** `ofSeries`, `ofFeed`: the bound that the window exceeds. Such a window must not be stored. */
export type Reserved = { readonly window: Window; readonly separate: number } | 'ofSeries' | 'ofFeed'

export interface FeedWindowsDeps {
  readonly feed: FeedKey
  readonly store: WindowStore
  readonly sinceOf: SinceOf
  /** Drops the windows that wait. */
  readonly signal: AbortSignal
}

/** Writes the windows of one feed: one write at a time, with all windows that wait. */
export class FeedWindows {
  readonly #deps: FeedWindowsDeps
  #watchedUntil = feedSeconds(0)
  #stored = new Map<string, SeriesSpans>()
  /** The stored and the expected windows of each series, joined. */
  #joined = new Map<string, readonly Span[]>()
  /** Separate windows of single symbols beyond the first of each series. */
  #further = 0
  #waiting: Window[] = []
  readonly #writes = new SharedRun(() => this.#write())
  readonly #reads = new SharedRun(() => this.#read())

  constructor(deps: FeedWindowsDeps) {
    this.#deps = deps
  }

  get stored(): ReadonlyMap<string, SeriesSpans> {
    return this.#stored
  }

  /** Reads all stored windows; calls during a read share the next one. */
  load(): Promise<void> {
    return this.#reads.run()
  }

  /** Resolves when no window is being written. */
  async idle(): Promise<void> {
    await this.#writes.run().catch(() => undefined)
  }

  /** The earliest start of the stored and expected windows of a series, by `windowSeriesId`; `undefined`: none. */
  startOf(id: string): number | undefined {
    const spans = this.#joined.get(id)
    return spans && Math.min(...spans.map(({ from }) => from))
  }

  /** The start of the first minute that no feed-wide window of any resolution claims; 0 without one. */
  get watchedUntil(): FeedSeconds {
    return this.#watchedUntil
  }

  /** Resolves after the commit; rejects if the write failed. Windows added during a write share the next write. */
  add(window: Window): Promise<void> {
    this.#waiting.push(window)
    return this.#writes.run()
  }

  /**
   * Counts a received window towards the bounds, before it is stored. Symbols that are listed from now on are not covered
   * by it. Returns the window to store, and how many separate windows its series then has.
   */
  reserve(window: Window): Reserved {
    const id = windowSeriesId(window)
    const joined = this.#joined.get(id) ?? []
    if (window.from === window.to) return { window, separate: joined.length }
    const grown = this.#grown(window)
    const touching = joined.filter(({ from, to }) => to >= grown.from && from <= grown.to)
    const isFirst = joined.length === 0
    if (touching.length === 0 && !isFirst) {
      if (joined.length >= separateWindowsMax) return 'ofSeries'
      if (window.symbol !== undefined && this.#further >= feedWindowsMax) return 'ofFeed'
    }
    const apart = joined.filter(({ from, to }) => to < grown.from || from > grown.to)
    this.#joined.set(id, [...apart, ...joinSpans([...touching, grown])])
    if (window.symbol !== undefined && !isFirst) this.#further += 1 - touching.length
    this.#watch(window)
    return { window: grown, separate: apart.length + 1 }
  }

  /** With the feed-wide windows that it touches: only stored ones, since the bars of an expected one may still be lost. */
  #grown(window: Window): Window {
    const { symbol, resolution } = window
    if (symbol === undefined) return window
    const feedWide = this.#stored.get(windowSeriesId({ symbol: undefined, resolution }))?.spans ?? []
    return { ...window, ...withTouching(window, feedWide, this.#deps.sinceOf(symbol)) }
  }

  #watch({ symbol, resolution, to }: Pick<Window, 'symbol' | 'resolution' | 'to'>): void {
    if (symbol !== undefined) return
    const lastOpen = to - gridSeconds(resolution)
    this.#watchedUntil = feedSeconds(Math.max(this.#watchedUntil, lastOpen + gridSeconds('1')))
  }

  async #read(): Promise<void> {
    const { store, feed, sinceOf } = this.#deps
    this.#stored = separateWindows(await store.of(feed), sinceOf)
    this.#joined = new Map([...this.#stored].map(([id, { spans }]) => [id, spans]))
    this.#further = 0
    for (const { symbol, resolution, spans } of this.#stored.values()) {
      if (symbol !== undefined) this.#further += spans.length - 1
      for (const { to } of spans) this.#watch({ symbol, resolution, to })
    }
  }

  async #write(): Promise<void> {
    const windows = this.#waiting
    this.#waiting = []
    if (windows.length === 0) return
    await this.#deps.store.add(windows, this.#deps.signal)
    for (const { symbol, resolution, from, to } of windows) {
      const id = windowSeriesId({ symbol, resolution })
      const spans = joinSpans([...(this.#stored.get(id)?.spans ?? []), { from, to }])
      this.#stored.set(id, { symbol, resolution, spans })
    }
  }
}
