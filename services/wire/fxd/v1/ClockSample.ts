// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface ClockSample {
  'terminalNow'?: (number | string | Long);
  'newestTick'?: (number | string | Long);
  'utcMs'?: (number | string | Long);
  'roundTripMs'?: (number);
}

export interface ClockSample__Output {
  'terminalNow': (number);
  'newestTick': (number);
  'utcMs': (number);
  'roundTripMs': (number);
}
