// Original file: proto/fxd/v1/collector.proto

import type { RefusalReason as _fxd_v1_RefusalReason, RefusalReason__Output as _fxd_v1_RefusalReason__Output } from '../../fxd/v1/RefusalReason.ts';

/**
 * Adjacent bars of one series with the same reason and detail share one entry.
 */
export interface RefusedBar {
  /**
   * Position of the series in the message, and of the first bar in the series.
   */
  'series'?: (number);
  'index'?: (number);
  'count'?: (number);
  'reason'?: (_fxd_v1_RefusalReason);
  /**
   * The fault, the value received and the value expected.
   */
  'message'?: (string);
}

/**
 * Adjacent bars of one series with the same reason and detail share one entry.
 */
export interface RefusedBar__Output {
  /**
   * Position of the series in the message, and of the first bar in the series.
   */
  'series': (number);
  'index': (number);
  'count': (number);
  'reason': (_fxd_v1_RefusalReason__Output);
  /**
   * The fault, the value received and the value expected.
   */
  'message': (string);
}
