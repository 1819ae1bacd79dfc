// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface RemoveSymbolResponse {
  /**
   * How many series of the symbol still have stored bars.
   */
  'series'?: (number | string | Long);
}

export interface RemoveSymbolResponse__Output {
  /**
   * How many series of the symbol still have stored bars.
   */
  'series': (number);
}
