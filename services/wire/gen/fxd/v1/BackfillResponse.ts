// Original file: proto/fxd/v1/registry.proto

import type { BackfilledRange as _fxd_v1_BackfilledRange, BackfilledRange__Output as _fxd_v1_BackfilledRange__Output } from '../../fxd/v1/BackfilledRange.ts';

/**
 * Resolutions without a window in the range are absent.
 */
export interface BackfillResponse {
  'ranges'?: (_fxd_v1_BackfilledRange)[];
}

/**
 * Resolutions without a window in the range are absent.
 */
export interface BackfillResponse__Output {
  'ranges': (_fxd_v1_BackfilledRange__Output)[];
}
