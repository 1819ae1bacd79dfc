// Original file: proto/fxd/v1/registry.proto

import type { ClockReading as _fxd_v1_ClockReading, ClockReading__Output as _fxd_v1_ClockReading__Output } from '../../fxd/v1/ClockReading.ts';

export interface ClockHistory {
  /**
   * UTC | Fixed | Measured, as the manifest says.
   */
  'mode'?: (string);
  /**
   * The newest 1,000, oldest first. The last one is in effect, unless `mode` is Measured and it is not.
   */
  'readings'?: (_fxd_v1_ClockReading)[];
}

export interface ClockHistory__Output {
  /**
   * UTC | Fixed | Measured, as the manifest says.
   */
  'mode': (string);
  /**
   * The newest 1,000, oldest first. The last one is in effect, unless `mode` is Measured and it is not.
   */
  'readings': (_fxd_v1_ClockReading__Output)[];
}
