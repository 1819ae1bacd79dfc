// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface IssueFeedTokenResponse {
  'token'?: (string);
  /**
   * When the token expires, UTC milliseconds.
   */
  'expiresAt'?: (number | string | Long);
  /**
   * Id of the key that signed the token, 16 hex digits.
   */
  'signingKey'?: (string);
}

export interface IssueFeedTokenResponse__Output {
  'token': (string);
  /**
   * When the token expires, UTC milliseconds.
   */
  'expiresAt': (number);
  /**
   * Id of the key that signed the token, 16 hex digits.
   */
  'signingKey': (string);
}
