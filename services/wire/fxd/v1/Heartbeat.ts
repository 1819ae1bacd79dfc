// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface Heartbeat {
  'terminalConnected'?: (boolean);
  'newestTick'?: (number | string | Long);
  'spooledBars'?: (number | string | Long);
  '_newestTick'?: "newestTick";
}

export interface Heartbeat__Output {
  'terminalConnected': (boolean);
  'newestTick'?: (number);
  'spooledBars': (number);
  '_newestTick'?: "newestTick";
}
