// Original file: proto/fxd/v1/registry.proto

import type { SeriesWindows as _fxd_v1_SeriesWindows, SeriesWindows__Output as _fxd_v1_SeriesWindows__Output } from '../../fxd/v1/SeriesWindows.ts';
import type { ResolutionsWithoutBars as _fxd_v1_ResolutionsWithoutBars, ResolutionsWithoutBars__Output as _fxd_v1_ResolutionsWithoutBars__Output } from '../../fxd/v1/ResolutionsWithoutBars.ts';
import type { Long } from '@grpc/proto-loader';

export interface Feed {
  /**
   * BROKER:ACCOUNT
   */
  'key'?: (string);
  'description'?: (string);
  'hidden'?: (boolean);
  /**
   * Number of visible symbols.
   */
  'symbolCount'?: (number);
  /**
   * live | stale | offline
   */
  'status'?: (string);
  /**
   * heartbeat | candle | none
   */
  'livenessSource'?: (string);
  /**
   * Open time of the newest bar on the feed's clock.
   */
  'lastBarTime'?: (number | string | Long);
  /**
   * The definition as JSON with the fields of a manifest; absent in a list.
   */
  'definitionJson'?: (string);
  /**
   * Compound keys in pages that fit a message; absent in a list.
   */
  'symbols'?: (string)[];
  'source'?: (string);
  /**
   * Empty on the last page.
   */
  'nextSymbol'?: (string);
  /**
   * Those of `symbols` whose history is read from the source for the first time.
   */
  'reading'?: (string)[];
  /**
   * Those of `symbols` without a stored bar.
   */
  'withoutBars'?: (string)[];
  /**
   * UID of the owning object; "operator": no object yet; empty: manifests.
   */
  'owner'?: (string);
  /**
   * Registry version of this record.
   */
  'version'?: (number | string | Long);
  /**
   * UTC minus the feed's clock; absent while it is unknown.
   */
  'clockOffsetSeconds'?: (number | string | Long);
  /**
   * Series of `symbols` with more than 100 separate windows; on the first page also those of all symbols of the feed.
   */
  'manyWindows'?: (_fxd_v1_SeriesWindows)[];
  /**
   * Lines that the collector of the feed rejects, as it says. Absent: it says nothing, or its session is at another ingest.
   */
  'rejectedLines'?: (number);
  /**
   * Those of `symbols` with bars that lack bars of some resolutions that the feed stores.
   */
  'resolutionsWithoutBars'?: (_fxd_v1_ResolutionsWithoutBars)[];
  /**
   * Company, server and digest of the account of the terminal that the feed accepts; absent: none yet, or a list.
   */
  'terminalIdentity'?: (string);
  /**
   * As in Heartbeat, of the collector whose session is at this ingest.
   */
  'readjustedSymbols'?: (number);
  'readjustmentsHeld'?: (boolean);
  '_lastBarTime'?: "lastBarTime";
  '_clockOffsetSeconds'?: "clockOffsetSeconds";
  '_rejectedLines'?: "rejectedLines";
  '_terminalIdentity'?: "terminalIdentity";
  '_readjustedSymbols'?: "readjustedSymbols";
}

export interface Feed__Output {
  /**
   * BROKER:ACCOUNT
   */
  'key': (string);
  'description': (string);
  'hidden': (boolean);
  /**
   * Number of visible symbols.
   */
  'symbolCount': (number);
  /**
   * live | stale | offline
   */
  'status': (string);
  /**
   * heartbeat | candle | none
   */
  'livenessSource': (string);
  /**
   * Open time of the newest bar on the feed's clock.
   */
  'lastBarTime'?: (number);
  /**
   * The definition as JSON with the fields of a manifest; absent in a list.
   */
  'definitionJson': (string);
  /**
   * Compound keys in pages that fit a message; absent in a list.
   */
  'symbols': (string)[];
  'source': (string);
  /**
   * Empty on the last page.
   */
  'nextSymbol': (string);
  /**
   * Those of `symbols` whose history is read from the source for the first time.
   */
  'reading': (string)[];
  /**
   * Those of `symbols` without a stored bar.
   */
  'withoutBars': (string)[];
  /**
   * UID of the owning object; "operator": no object yet; empty: manifests.
   */
  'owner': (string);
  /**
   * Registry version of this record.
   */
  'version': (number);
  /**
   * UTC minus the feed's clock; absent while it is unknown.
   */
  'clockOffsetSeconds'?: (number);
  /**
   * Series of `symbols` with more than 100 separate windows; on the first page also those of all symbols of the feed.
   */
  'manyWindows': (_fxd_v1_SeriesWindows__Output)[];
  /**
   * Lines that the collector of the feed rejects, as it says. Absent: it says nothing, or its session is at another ingest.
   */
  'rejectedLines'?: (number);
  /**
   * Those of `symbols` with bars that lack bars of some resolutions that the feed stores.
   */
  'resolutionsWithoutBars': (_fxd_v1_ResolutionsWithoutBars__Output)[];
  /**
   * Company, server and digest of the account of the terminal that the feed accepts; absent: none yet, or a list.
   */
  'terminalIdentity'?: (string);
  /**
   * As in Heartbeat, of the collector whose session is at this ingest.
   */
  'readjustedSymbols'?: (number);
  'readjustmentsHeld': (boolean);
  '_lastBarTime'?: "lastBarTime";
  '_clockOffsetSeconds'?: "clockOffsetSeconds";
  '_rejectedLines'?: "rejectedLines";
  '_terminalIdentity'?: "terminalIdentity";
  '_readjustedSymbols'?: "readjustedSymbols";
}
