// Original file: proto/fxd/v1/collector.proto

import type { RefusalReason as _fxd_v1_RefusalReason, RefusalReason__Output as _fxd_v1_RefusalReason__Output } from '../../fxd/v1/RefusalReason.ts';

/**
 * Adjacent bars of one series with the same reason and detail share one entry.
 */
export interface RefusedBar {
  /**
   * Index of the series in the message, from 0.
   */
  'series'?: (number);
  /**
   * Index of the first refused bar in the series, from 0.
   */
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
   * Index of the series in the message, from 0.
   */
  'series': (number);
  /**
   * Index of the first refused bar in the series, from 0.
   */
  'index': (number);
  'count': (number);
  'reason': (_fxd_v1_RefusalReason__Output);
  /**
   * The fault, the value received and the value expected.
   */
  'message': (string);
}
