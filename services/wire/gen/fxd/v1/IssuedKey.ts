// Original file: proto/fxd/v1/registry.proto

import type { Key as _fxd_v1_Key, Key__Output as _fxd_v1_Key__Output } from '../../fxd/v1/Key.ts';

export interface IssuedKey {
  'key'?: (_fxd_v1_Key | null);
  /**
   * fxd_ and 32 hex characters.
   */
  'secret'?: (string);
}

export interface IssuedKey__Output {
  'key': (_fxd_v1_Key__Output | null);
  /**
   * fxd_ and 32 hex characters.
   */
  'secret': (string);
}
