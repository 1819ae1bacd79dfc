// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface PurgeFeedResponse {
  /**
   * Number of series that had bars.
   */
  'series'?: (number | string | Long);
}

export interface PurgeFeedResponse__Output {
  /**
   * Number of series that had bars.
   */
  'series': (number);
}
