// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface BackfilledRange {
  'resolution'?: (string);
  /**
   * As requested, without times before the depth, the retention or `earliest` of the feed.
   */
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
  /**
   * Number of symbols whose windows were withdrawn.
   */
  'symbols'?: (number);
}

export interface BackfilledRange__Output {
  'resolution': (string);
  /**
   * As requested, without times before the depth, the retention or `earliest` of the feed.
   */
  'from': (number);
  'to': (number);
  /**
   * Number of symbols whose windows were withdrawn.
   */
  'symbols': (number);
}
