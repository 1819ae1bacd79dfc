// Original file: proto/fxd/v1/collector.proto

import type { RefusalReason as _fxd_v1_RefusalReason, RefusalReason__Output as _fxd_v1_RefusalReason__Output } from '../../fxd/v1/RefusalReason.ts';

/**
 * Neighbouring bars of one series that share a reason and its words are one entry.
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
   * What was wrong, what it got and what is wanted.
   */
  'message'?: (string);
}

/**
 * Neighbouring bars of one series that share a reason and its words are one entry.
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
   * What was wrong, what it got and what is wanted.
   */
  'message': (string);
}
