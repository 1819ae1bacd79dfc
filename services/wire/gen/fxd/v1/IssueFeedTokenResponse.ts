// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface IssueFeedTokenResponse {
  'token'?: (string);
  /**
   * UTC milliseconds: the first moment at which it is expired.
   */
  'expiresAt'?: (number | string | Long);
}

export interface IssueFeedTokenResponse__Output {
  'token': (string);
  /**
   * UTC milliseconds: the first moment at which it is expired.
   */
  'expiresAt': (number);
}
