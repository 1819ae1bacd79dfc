// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * A symbol as it now stands; the manifest, or the collector where an import asked, may have said otherwise.
 */
export interface CataloguedName {
  'raw'?: (string);
  /**
   * Clean name.
   */
  'symbol'?: (string);
  'digits'?: (number);
  'delaySeconds'?: (number);
  /**
   * Windows of the whole catalogue count for this symbol from here on; absent: not yet.
   */
  'since'?: (number | string | Long);
  '_since'?: "since";
}

/**
 * A symbol as it now stands; the manifest, or the collector where an import asked, may have said otherwise.
 */
export interface CataloguedName__Output {
  'raw': (string);
  /**
   * Clean name.
   */
  'symbol': (string);
  'digits': (number);
  'delaySeconds': (number);
  /**
   * Windows of the whole catalogue count for this symbol from here on; absent: not yet.
   */
  'since'?: (number);
  '_since'?: "since";
}
