// Original file: proto/fxd/v1/registry.proto

import type { Feed as _fxd_v1_Feed, Feed__Output as _fxd_v1_Feed__Output } from '../../fxd/v1/Feed.ts';

/**
 * Ordered by key, in pages that fit a message.
 */
export interface ListFeedsResponse {
  'feeds'?: (_fxd_v1_Feed)[];
  /**
   * Empty on the last page.
   */
  'next'?: (string);
  /**
   * Ids of the signing keys whose tokens of feeds are accepted.
   */
  'signingKeys'?: (string)[];
  /**
   * Identity of the store of bars; empty: unknown.
   */
  'storeIdentity'?: (string);
}

/**
 * Ordered by key, in pages that fit a message.
 */
export interface ListFeedsResponse__Output {
  'feeds': (_fxd_v1_Feed__Output)[];
  /**
   * Empty on the last page.
   */
  'next': (string);
  /**
   * Ids of the signing keys whose tokens of feeds are accepted.
   */
  'signingKeys': (string)[];
  /**
   * Identity of the store of bars; empty: unknown.
   */
  'storeIdentity': (string);
}
