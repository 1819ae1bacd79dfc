// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * A symbol with its effective values. They may differ from those sent: the manifest overrides a collector, and a
 * collector overrides an import.
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
   * From this time on windows of the whole catalogue count for this symbol; absent: not yet.
   */
  'since'?: (number | string | Long);
  '_since'?: "since";
}

/**
 * A symbol with its effective values. They may differ from those sent: the manifest overrides a collector, and a
 * collector overrides an import.
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
   * From this time on windows of the whole catalogue count for this symbol; absent: not yet.
   */
  'since'?: (number);
  '_since'?: "since";
}
