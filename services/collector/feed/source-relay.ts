import type { Span } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { type RawSeriesId, rawSeriesId } from '../series/series-id.ts'
import type { Listing, SourceBars, SourceListener, SourceSeries, SourceSymbol } from '../source.ts'
import type { ActiveSession } from './active-session.ts'
import type { Collection } from './collection.ts'
import type { FeedTime } from './feed-time.ts'
import type { OfflineBuffer } from './offline-buffer.ts'
import { SourceCatalogue } from './source-catalogue.ts'

/** Passes the events of a source to the active session, or to the offline buffer while that runs. */
export class SourceRelay implements SourceListener {
  readonly symbols = new SourceCatalogue()
  readonly time: FeedTime
  /** How often each series changed as a whole, of those that no session has read and stored since. */
  readonly changed = new Map<RawSeriesId, number>()
  readonly #offline: OfflineBuffer | undefined
  #session: ActiveSession | undefined
  #isConnected = true

  constructor(time: FeedTime, offline: OfflineBuffer | undefined) {
    this.time = time
    this.#offline = offline
  }

  get isActive(): boolean {
    return this.#session !== undefined
  }

  /** Whether the terminal is connected to its broker. */
  get isConnected(): boolean {
    return this.#isConnected
  }

  begin(session: ActiveSession): void {
    this.#session = session
  }

  /** Returns the session that has ended, if it was active. */
  end(): ActiveSession | undefined {
    const session = this.#session
    this.#session = undefined
    return session
  }

  catalogue(symbols: readonly SourceSymbol[], listing: Listing): void {
    this.symbols.take(symbols, listing)
    this.#session?.list(
      symbols.map((symbol) => this.symbols.get(symbol.raw) ?? symbol),
      listing,
    )
  }

  closed(batch: readonly SourceBars[]): void {
    this.time.noteActivity()
    this.#receiver?.closed(batch)
  }

  complete(series: SourceSeries, span: Span): void {
    this.#session?.collection.complete(series, span)
  }

  watched(resolution: Resolution, span: Span): void {
    this.#receiver?.watched(resolution, span)
  }

  rejected(series: SourceSeries, spans: readonly Span[]): void {
    this.#session?.collection.rejected(series, spans)
  }

  readAgain(series: SourceSeries, span: Span): void {
    this.time.noteActivity()
    const id = rawSeriesId(series)
    this.changed.set(id, (this.changed.get(id) ?? 0) + 1)
    this.#offline?.drop(series)
    this.#session?.collection.readAgain(series, span)
  }

  tick(newest: FeedSeconds): void {
    this.time.tick(newest)
  }

  connected(is: boolean): void {
    this.#isConnected = is
  }

  get #receiver(): OfflineBuffer | Collection | undefined {
    return this.#offline?.isRunning ? this.#offline : this.#session?.collection
  }
}
