// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface RemoveSymbolResponse {
  /**
   * Number of series of the symbol that still have stored bars.
   */
  'series'?: (number | string | Long);
  /**
   * Number of hidden names that were freed.
   */
  'freed'?: (number | string | Long);
}

export interface RemoveSymbolResponse__Output {
  /**
   * Number of series of the symbol that still have stored bars.
   */
  'series': (number);
  /**
   * Number of hidden names that were freed.
   */
  'freed': (number);
}
