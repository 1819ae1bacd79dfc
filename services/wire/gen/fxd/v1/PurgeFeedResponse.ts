// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface PurgeFeedResponse {
  /**
   * How many series had bars.
   */
  'series'?: (number | string | Long);
}

export interface PurgeFeedResponse__Output {
  /**
   * How many series had bars.
   */
  'series': (number);
}
