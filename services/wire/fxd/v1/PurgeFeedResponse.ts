// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface PurgeFeedResponse {
  'series'?: (number | string | Long);
}

export interface PurgeFeedResponse__Output {
  'series': (number);
}
