// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface BackfillRequest {
  /**
   * BROKER:ACCOUNT
   */
  'feed'?: (string);
  /**
   * The clean name, without the feed; empty: all symbols.
   */
  'symbol'?: (string);
  /**
   * Empty: all resolutions that the feed stores.
   */
  'resolutions'?: (string)[];
  /**
   * Half-open [from, to), on the feed's clock.
   */
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
}

export interface BackfillRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'feed': (string);
  /**
   * The clean name, without the feed; empty: all symbols.
   */
  'symbol': (string);
  /**
   * Empty: all resolutions that the feed stores.
   */
  'resolutions': (string)[];
  /**
   * Half-open [from, to), on the feed's clock.
   */
  'from': (number);
  'to': (number);
}
