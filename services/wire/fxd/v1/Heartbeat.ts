// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface Heartbeat {
  'terminalConnected'?: (boolean);
  /**
   * As in ClockSample, or the greatest so far.
   */
  'newestTick'?: (number | string | Long);
  'spooledBars'?: (number | string | Long);
  '_newestTick'?: "newestTick";
}

export interface Heartbeat__Output {
  'terminalConnected': (boolean);
  /**
   * As in ClockSample, or the greatest so far.
   */
  'newestTick'?: (number);
  'spooledBars': (number);
  '_newestTick'?: "newestTick";
}
