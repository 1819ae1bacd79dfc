// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Sent every 5 s in a live session, also while the market is closed.
 */
export interface Heartbeat {
  'terminalConnected'?: (boolean);
  /**
   * As in ClockSample, or the latest so far.
   */
  'newestTick'?: (number | string | Long);
  'spooledBars'?: (number | string | Long);
  '_newestTick'?: "newestTick";
}

/**
 * Sent every 5 s in a live session, also while the market is closed.
 */
export interface Heartbeat__Output {
  'terminalConnected': (boolean);
  /**
   * As in ClockSample, or the latest so far.
   */
  'newestTick'?: (number);
  'spooledBars': (number);
  '_newestTick'?: "newestTick";
}
