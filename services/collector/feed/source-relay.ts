import type { Span } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { type RawSeriesId, rawSeriesId } from '../series/series-id.ts'
import type { Listing, Reported, SourceBars, SourceListener, SourceSeries, SourceSymbol } from '../source.ts'
import type { ActiveSession } from './active-session.ts'
import type { ClosedBars } from './closed-bars.ts'
import type { FeedTime } from './feed-time.ts'
import { Readjustments } from './readjustments.ts'
import { SourceCatalogue } from './source-catalogue.ts'

/** Passes the events of a source to the active session, or to the collected series while there is none. */
export class SourceRelay implements SourceListener {
  /** The active session. */
  session: ActiveSession | undefined
  readonly symbols = new SourceCatalogue()
  readonly time: FeedTime
  isConnected = true
  /** How often each series changed as a whole, of those that no session has read and stored since. */
  readonly changed = new Map<RawSeriesId, number>()
  readonly readjustments = new Readjustments()
  readonly #bars: ClosedBars

  constructor(time: FeedTime, bars: ClosedBars) {
    this.time = time
    this.#bars = bars
  }

  get isActive(): boolean {
    return this.session !== undefined
  }

  end(): void {
    this.session = undefined
    this.#bars.end()
  }

  reportFrom(of: SourceSeries): FeedSeconds | undefined {
    return this.#bars.get(of)?.reportFrom(this.time.now())
  }

  catalogue(symbols: readonly SourceSymbol[], listing: Listing): void {
    this.symbols.take(symbols, listing)
    const known = symbols.map((symbol) => this.symbols.get(symbol.raw) ?? symbol)
    this.session?.list(known, listing)
  }

  get takesBars(): boolean {
    return this.isActive || !this.#bars.isEmpty
  }

  closed(batch: readonly SourceBars[]): Reported {
    this.time.noteActivity()
    return this.#bars.closed(batch)
  }

  complete(series: SourceSeries, span: Span): void {
    this.session?.collection?.complete(series, span)
  }

  watched(resolution: Resolution, span: Span, late?: ReadonlySet<string>): void {
    const collection = this.session?.collection
    if (collection) collection.watched(resolution, span, late)
    else this.#bars.interrupted(resolution, span.from)
  }

  rejected(series: SourceSeries, spans: readonly Span[]): void {
    this.#bars.get(series)?.unstored.addSpans(spans)
  }

  readAgain(series: SourceSeries, span: Span): void {
    this.time.noteActivity()
    const id = rawSeriesId(series)
    this.changed.set(id, (this.changed.get(id) ?? 0) + 1)
    const collection = this.session?.collection
    if (collection) collection.readAgain(series, span)
    else this.#bars.drop(series)
  }

  tick(newest: FeedSeconds): void {
    this.time.tick(newest)
  }

  connected(is: boolean): void {
    this.isConnected = is
  }
}
