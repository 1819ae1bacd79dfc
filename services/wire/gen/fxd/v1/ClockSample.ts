// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * From these, or else from heartbeats, ingest measures a clock that the feed's definition does not fix.
 */
export interface ClockSample {
  'terminalNow'?: (number | string | Long);
  /**
   * Time of the last received tick, in seconds of the feed's clock. Symbols with delayed quotes do not count.
   */
  'newestTick'?: (number | string | Long);
  'utcMs'?: (number | string | Long);
  'roundTripMs'?: (number);
}

/**
 * From these, or else from heartbeats, ingest measures a clock that the feed's definition does not fix.
 */
export interface ClockSample__Output {
  'terminalNow': (number);
  /**
   * Time of the last received tick, in seconds of the feed's clock. Symbols with delayed quotes do not count.
   */
  'newestTick': (number);
  'utcMs': (number);
  'roundTripMs': (number);
}
