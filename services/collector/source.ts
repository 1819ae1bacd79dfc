import { type Bars, barCount, sliceBars } from '../core/bars/bar.ts'
import type { Span } from '../core/bars/window.ts'
import type { FeedSeconds, UtcMs } from '../core/clocks/feed-clock.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import type { Session, SymbolType } from '../core/feeds/symbol.ts'
import type { TerminalPin } from './terminal-pin.ts'

/**
 * The origin of bars: one implementation of this interface per kind of terminal.
 *
 * A source depends on its terminal only. It uses raw names, plain prices and the feed's clock. The session does
 * all else: clean names, lanes, revisions, scales, windows, forming bars, reconnecting. A source is opened once
 * and is used by all sessions of its collector.
 */
export interface Source {
  /** Text for Hello and the log, such as `mt5-csv exports/` or `simulator seed 7`. */
  readonly terminal: string
  readonly capabilities: SourceCapabilities
  /** Lines of its files that are rejected, as the files are now; absent for a source without files. */
  readonly rejectedLines?: () => number
  /** The terminal that the source accepts; absent: it has no pin. */
  readonly pin?: TerminalPin
  /**
   * Starts watching. Resolves once the listener has received the first catalogue snapshot. Calls the
   * listener until the signal aborts. Rejects when the terminal is unavailable: the collector opens the
   * source again later, with growing pauses.
   */
  open(listener: SourceListener, signal: AbortSignal): Promise<void>
  /**
   * Yields the terminal's bars of one series in the half-open span, oldest first, in answers of at most
   * `sourceBarsMax` bars. A normal end means only that no more answers follow. Only spans that answers name
   * in `complete` become coverage. Throws `NotLoadedYet` while the terminal is still fetching this history;
   * the read is then retried later. Any other error is logged (a `SourceFault` as its sentence, once) and
   * retried too. Called for any series of the catalogue, for at most `sourceReadsMax` series at once. The
   * last bar may still be forming: the session keeps it until it closes.
   */
  read(series: SourceSeries, span: Span, signal: AbortSignal): AsyncIterable<SourceAnswer>
}

export interface SourceCapabilities {
  /** Bars can be read again after a crash (files, the simulator). Ingest may then publish before the commit. */
  readonly rereadable: boolean
  /**
   * `pieces`: the cost of a read grows with its span. So history is read newest day first over all symbols,
   * back to the feed's `depth`. `whole`: each read goes through all bars. So a series is read once per
   * start, with a span of all times. Bars of any age are stored.
   */
  readonly reads: 'pieces' | 'whole'
  /** Whether it reports new bars and ticks as they arrive. */
  readonly live: boolean
  /** Whether its history may be re-adjusted, such as that of a share after a split: then old days are compared. */
  readonly readjusts?: boolean | undefined
}

export interface SourceSeries {
  readonly raw: string
  readonly resolution: Resolution
}

export interface SourceSymbol {
  /** The terminal's own name. */
  readonly raw: string
  /** Decimals of the price. On mid-quoted feeds prices may have one more, the half unit. */
  readonly digits: number
  /** Resolutions that can be read. The session ignores those that the feed does not list. */
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
  /** True when the source folded them from finer bars: bars read from the terminal have priority. */
  readonly derived?: boolean | undefined
  /** The source knows that the last bar has closed too; by default the session decides. */
  readonly isClosed?: boolean | undefined
}

export interface SourceAnswer {
  readonly bars: Bars
  readonly derived?: boolean | undefined
  /** All bars that the terminal has in this half-open span are in this answer or earlier ones; absent: no claim. */
  readonly complete?: Span | undefined
}

export interface Reported {
  /**
   * Resolves once these bars are in the spool, or were dropped because they can be read again. Rejects when the spool's
   * disk refused bars. Without a spool it resolves at once.
   */
  readonly spooled: Promise<void>
}

/** `snapshot`: these are all symbols; otherwise these are added or changed. */
export interface Listing {
  readonly snapshot: boolean
}

/**
 * Receives the events of a source. No call blocks or throws. While no session is active, bars go into the
 * spool. Without a spool they are dropped here and read again later (`rereadable`).
 */
export interface SourceListener {
  /** The current time by the clock of ingest, which decides what has closed: a wrong clock of this machine has no effect. */
  readonly time: { utcMs(): UtcMs }
  /** False while nothing that is reported is kept: no session is active, and no series waits for the next one. */
  readonly takesBars: boolean
  /**
   * The time from which bars of this series have to be reported: earlier ones were reported, or are read. 0: from the bar
   * that is forming now. `undefined`: the series is not collected.
   */
  reportFrom(series: SourceSeries): FeedSeconds | undefined
  catalogue(symbols: readonly SourceSymbol[], listing: Listing): void
  /**
   * Bars that just closed or were just corrected, of several series: one call per minute for all symbols.
   * The last bar of a series may still be forming: the session keeps it until it closes.
   */
  closed(batch: readonly SourceBars[]): Reported
  /**
   * All bars that the terminal has of this series in this half-open span were reported, by `closed` or by
   * `read`. The span becomes coverage of this series (used for new lines of a followed file).
   */
  complete(series: SourceSeries, span: Span): void
  /**
   * Called about once a minute by sources that watch all symbols at once. Since `span.from` no bar was missed.
   * All bars of this resolution that opened before `span.to` have closed and were reported to `closed`, of
   * all symbols; delayed symbols may lag by their delay. `from` changes only after an interruption; the
   * session then reads the time between again. `late`: raw names of series whose newest bars the terminal cannot read
   * yet; a later call without them claims their time too.
   */
  watched(resolution: Resolution, span: Span, late?: ReadonlySet<string>): void
  /** Bars in these spans exist but were rejected: no window claims them until they are accepted. */
  rejected(series: SourceSeries, spans: readonly Span[]): void
  /** The whole series may have changed (a file that shrank): read the span again, covered or not. */
  readAgain(series: SourceSeries, span: Span): void
  /**
   * Time of the newest tick, on the feed's clock. It falls when the broker sets its clock back, and then only. While
   * that clock is measured, ticks of delayed symbols are not reported.
   */
  tick(newest: FeedSeconds): void
  /** Whether the terminal is connected to its broker; assumed to be connected until this is called. */
  connected(is: boolean): void
}

/** The terminal has not fetched this history yet: there is no answer, so no window. */
export class NotLoadedYet extends Error {}

/** A fault of the source that a person can mend; the message is a sentence that names it. */
export class SourceFault extends Error {}

/** Maximum bars of one answer. */
export const sourceBarsMax = 5_000

/** Splits bars into those of one answer each. */
export function* pieces(bars: Bars): Generator<Bars> {
  for (let at = 0; at < barCount(bars); at += sourceBarsMax)
    yield sliceBars(bars, at, Math.min(at + sourceBarsMax, barCount(bars)))
}

/** Maximum series that are read at once. So many days of 1,440 minutes fill more than one post of a terminal, 5,000 bars. */
export const sourceReadsMax = 8
