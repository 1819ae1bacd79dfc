// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface ClockReading {
  /**
   * Since when this offset is known, UTC milliseconds.
   */
  'since'?: (number | string | Long);
  /**
   * real_utc = time + clock_offset_seconds.
   */
  'clockOffsetSeconds'?: (number | string | Long);
  /**
   * Fixed | Measured
   */
  'source'?: (string);
  /**
   * The last measurement, UTC milliseconds; absent: the manifest fixed it.
   */
  'measuredAt'?: (number | string | Long);
  '_measuredAt'?: "measuredAt";
}

export interface ClockReading__Output {
  /**
   * Since when this offset is known, UTC milliseconds.
   */
  'since': (number);
  /**
   * real_utc = time + clock_offset_seconds.
   */
  'clockOffsetSeconds': (number);
  /**
   * Fixed | Measured
   */
  'source': (string);
  /**
   * The last measurement, UTC milliseconds; absent: the manifest fixed it.
   */
  'measuredAt'?: (number);
  '_measuredAt'?: "measuredAt";
}
