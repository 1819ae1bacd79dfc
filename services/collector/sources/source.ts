import type { Bars } from '../../core/bars/bar.ts'
import type { Span } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Session, SymbolType } from '../../core/feeds/symbol.ts'

/**
 * Where bars come from: one file behind this interface per kind of terminal.
 *
 * A source knows its terminal and nothing else: it speaks raw names, plain prices and the feed's
 * clock. Everything between it and ingest is the session's (clean names, lanes, revisions, scales,
 * windows, forming bars, reconnecting). It is opened once and lives over any number of sessions.
 */
export interface Source {
  /** What Hello and the log show, such as `mt5-csv exports/` or `simulator seed 7`. */
  readonly terminal: string
  readonly capabilities: SourceCapabilities
  /**
   * Starts watching. Resolves once the first catalogue snapshot was given to the listener; goes on
   * calling the listener until the signal aborts, then stops by itself. Rejects when the terminal
   * cannot be reached at all: the session opens it again later, with growing pauses.
   */
  open(listener: SourceListener, signal: AbortSignal): Promise<void>
  /**
   * What the terminal holds of one series inside the half-open span, oldest first, in answers of at
   * most `sourceBarsMax` bars. Ending normally only says that there is no more to come; what was
   * answered *completely* is what the answers name in `complete`, and only that becomes coverage.
   * Throws `NotLoadedYet` while the terminal is still fetching this history: it is asked again later.
   * Any other error is logged (a `SourceFault` as its sentence, once) and asked again too. May be called for several series at once (at most
   * `sourceReadsMax`) and for any series of the catalogue. The last bar may still be forming: the
   * session holds it back.
   */
  read(series: SourceSeries, span: Span, signal: AbortSignal): AsyncIterable<SourceAnswer>
}

export interface SourceCapabilities {
  /**
   * Every bar given to the listener can be read again after a crash (files, the simulator): its live
   * bars may then be published while their commit is still under way.
   */
  readonly rereadable: boolean
  /**
   * `pieces`: any span costs about as much as it is long, so history is asked newest day first over
   * all symbols, as far back as the feed's `depth`. `whole`: a read walks through everything, so at
   * each start a series is asked for once, with a span of all times, and all of it counts, however old.
   */
  readonly reads: 'pieces' | 'whole'
}

export interface SourceSeries {
  readonly raw: string
  readonly resolution: Resolution
}

export interface SourceSymbol {
  /** The terminal's own name. */
  readonly raw: string
  /** Decimals of the price. On mid-quoted feeds prices may carry one more, the half unit. */
  readonly digits: number
  /** What can be read of this symbol; resolutions the feed does not list are left alone by the session. */
  readonly resolutions: readonly Resolution[]
  readonly display?: string | undefined
  readonly description?: string | undefined
  /** Default: `cfd`. */
  readonly type?: SymbolType | undefined
  /** Default: by type. */
  readonly session?: Session | undefined
  readonly delaySeconds?: number | undefined
}

/** Bars of one series, strictly ascending in time. The `revision` column is not read: the session stamps it. */
export interface SourceBars extends SourceSeries {
  readonly bars: Bars
  /** The source folded them from finer bars, so that anything read from the terminal wins over them. */
  readonly derived?: boolean | undefined
}

export interface SourceAnswer {
  readonly bars: Bars
  readonly derived?: boolean | undefined
  /**
   * With these bars, and those of the answers before, everything that the terminal has in this
   * half-open span was given (nothing at all is an answer too). Absent: no claim.
   */
  readonly complete?: Span | undefined
}

/** `snapshot`: these are all symbols there are; else these are added or changed. */
export interface Listing {
  readonly snapshot: boolean
}

/**
 * What a source tells as it happens. No call blocks or throws; while no session is up, bars go into the
 * spool, or without one are dropped here and read again later (`rereadable`).
 */
export interface SourceListener {
  catalogue(symbols: readonly SourceSymbol[], listing: Listing): void
  /**
   * Bars that just closed (or were just corrected), of several series: a minute of all symbols is one
   * call. The last of a series may still be forming: the session holds it back.
   */
  closed(batch: readonly SourceBars[]): void
  /**
   * Everything that the terminal has of this series in this half-open span was given, to `closed` or in
   * an answer to `read`; becomes coverage of this series as it stands (a followed file's new lines).
   */
  complete(series: SourceSeries, span: Span): void
  /**
   * For sources that watch all symbols at once, about once a minute: since `span.from` nothing was
   * missed, and every bar of this resolution that opened before `span.to`, of any symbol (delayed ones
   * may lag by their delay), has closed and was given to `closed`. `from` stays the same from call to
   * call and moves only after an interruption; the session then reads again what lies between.
   */
  watched(resolution: Resolution, span: Span): void
  /** Bars in these spans were found and cannot be taken: no window claims them until they can. */
  leftOut(series: SourceSeries, spans: readonly Span[]): void
  /** What was there has changed as a whole (a file that shrank): read the span again, covered or not. */
  again(series: SourceSeries, span: Span): void
  /** Time of the newest tick, on the feed's clock. Where that is to be measured, ticks of delayed symbols are left out. */
  tick(newest: FeedSeconds): void
  /** Whether the terminal is connected to its broker; counts as connected until told otherwise. */
  connected(is: boolean): void
}

/** The terminal has not fetched this history yet: no answer, so no window. */
export class NotLoadedYet extends Error {}

/** Something at the source that a person can put right; the message is a sentence that names it. */
export class SourceFault extends Error {}

export const sourceBarsMax = 5_000
export const sourceReadsMax = 4
