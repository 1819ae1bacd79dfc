// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * By these, or else by heartbeats, ingest measures a clock that the feed's definition does not fix.
 */
export interface ClockSample {
  'terminalNow'?: (number | string | Long);
  /**
   * Seconds on the feed's clock, of the last tick that came; symbols whose quotes are delayed are left out.
   */
  'newestTick'?: (number | string | Long);
  'utcMs'?: (number | string | Long);
  'roundTripMs'?: (number);
}

/**
 * By these, or else by heartbeats, ingest measures a clock that the feed's definition does not fix.
 */
export interface ClockSample__Output {
  'terminalNow': (number);
  /**
   * Seconds on the feed's clock, of the last tick that came; symbols whose quotes are delayed are left out.
   */
  'newestTick': (number);
  'utcMs': (number);
  'roundTripMs': (number);
}
