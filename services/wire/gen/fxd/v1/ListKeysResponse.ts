// Original file: proto/fxd/v1/registry.proto

import type { Key as _fxd_v1_Key, Key__Output as _fxd_v1_Key__Output } from '../../fxd/v1/Key.ts';

/**
 * Oldest first, in pages that fit a message.
 */
export interface ListKeysResponse {
  'keys'?: (_fxd_v1_Key)[];
  /**
   * Empty on the last page.
   */
  'next'?: (string);
}

/**
 * Oldest first, in pages that fit a message.
 */
export interface ListKeysResponse__Output {
  'keys': (_fxd_v1_Key__Output)[];
  /**
   * Empty on the last page.
   */
  'next': (string);
}
