// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Ingest measures a clock that the feed's definition does not fix. It uses clock samples or, without them, heartbeats.
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
 * Ingest measures a clock that the feed's definition does not fix. It uses clock samples or, without them, heartbeats.
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
