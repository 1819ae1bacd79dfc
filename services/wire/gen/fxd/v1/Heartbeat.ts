// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Sent every 5 s in a live session, also while the market is closed.
 */
export interface Heartbeat {
  'terminalConnected'?: (boolean);
  /**
   * As in ClockSample, or the latest so far.
   */
  'newestTick'?: (number | string | Long);
  /**
   * Number of bars in the spool without an Ack.
   */
  'spooledBars'?: (number | string | Long);
  /**
   * Age of the oldest of them, in seconds; 0 when there is none. Absent: no spool, or its state is unknown. Then
   * `spooled_bars` is not used either.
   */
  'spoolAgeSeconds'?: (number);
  /**
   * Lines of the files of this source that are rejected, as the files are now. Absent: the source has no files.
   */
  'rejectedLines'?: (number);
  /**
   * Company, server and digest of the account of the terminal, at most 2,048 characters. Ingest keeps the first one of the feed
   * until it is cleared by AcceptTerminal; then the session ends with UNAVAILABLE. Absent: not known.
   */
  'terminalIdentity'?: (string);
  /**
   * Symbols whose history the terminal re-adjusted, since the start of this collector. Absent: it does not look for them.
   */
  'readjustedSymbols'?: (number);
  /**
   * Too many symbols were re-adjusted in one day: the collector reads none again until `fxd backfill`.
   */
  'readjustmentsHeld'?: (boolean);
  '_newestTick'?: "newestTick";
  '_spoolAgeSeconds'?: "spoolAgeSeconds";
  '_rejectedLines'?: "rejectedLines";
  '_terminalIdentity'?: "terminalIdentity";
  '_readjustedSymbols'?: "readjustedSymbols";
}

/**
 * Sent every 5 s in a live session, also while the market is closed.
 */
export interface Heartbeat__Output {
  'terminalConnected': (boolean);
  /**
   * As in ClockSample, or the latest so far.
   */
  'newestTick'?: (number);
  /**
   * Number of bars in the spool without an Ack.
   */
  'spooledBars': (number);
  /**
   * Age of the oldest of them, in seconds; 0 when there is none. Absent: no spool, or its state is unknown. Then
   * `spooled_bars` is not used either.
   */
  'spoolAgeSeconds'?: (number);
  /**
   * Lines of the files of this source that are rejected, as the files are now. Absent: the source has no files.
   */
  'rejectedLines'?: (number);
  /**
   * Company, server and digest of the account of the terminal, at most 2,048 characters. Ingest keeps the first one of the feed
   * until it is cleared by AcceptTerminal; then the session ends with UNAVAILABLE. Absent: not known.
   */
  'terminalIdentity'?: (string);
  /**
   * Symbols whose history the terminal re-adjusted, since the start of this collector. Absent: it does not look for them.
   */
  'readjustedSymbols'?: (number);
  /**
   * Too many symbols were re-adjusted in one day: the collector reads none again until `fxd backfill`.
   */
  'readjustmentsHeld': (boolean);
  '_newestTick'?: "newestTick";
  '_spoolAgeSeconds'?: "spoolAgeSeconds";
  '_rejectedLines'?: "rejectedLines";
  '_terminalIdentity'?: "terminalIdentity";
  '_readjustedSymbols'?: "readjustedSymbols";
}
