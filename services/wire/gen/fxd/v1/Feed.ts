// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface Feed {
  /**
   * BROKER:ACCOUNT
   */
  'key'?: (string);
  'description'?: (string);
  'hidden'?: (boolean);
  /**
   * Shown symbols.
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
   * The definition as JSON, in the manifest's words; absent in a list.
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
   * Of `symbols`, those whose history is being read from the source for the first time.
   */
  'reading'?: (string)[];
  /**
   * Of `symbols`, those without a stored bar.
   */
  'withoutBars'?: (string)[];
  /**
   * UID of the object that owns it; "operator": none yet; empty: manifests.
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
  '_lastBarTime'?: "lastBarTime";
  '_clockOffsetSeconds'?: "clockOffsetSeconds";
}

export interface Feed__Output {
  /**
   * BROKER:ACCOUNT
   */
  'key': (string);
  'description': (string);
  'hidden': (boolean);
  /**
   * Shown symbols.
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
   * The definition as JSON, in the manifest's words; absent in a list.
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
   * Of `symbols`, those whose history is being read from the source for the first time.
   */
  'reading': (string)[];
  /**
   * Of `symbols`, those without a stored bar.
   */
  'withoutBars': (string)[];
  /**
   * UID of the object that owns it; "operator": none yet; empty: manifests.
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
  '_lastBarTime'?: "lastBarTime";
  '_clockOffsetSeconds'?: "clockOffsetSeconds";
}
