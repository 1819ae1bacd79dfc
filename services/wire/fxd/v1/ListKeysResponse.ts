// Original file: proto/fxd/v1/registry.proto

import type { Key as _fxd_v1_Key, Key__Output as _fxd_v1_Key__Output } from '../../fxd/v1/Key.ts';

export interface ListKeysResponse {
  'keys'?: (_fxd_v1_Key)[];
}

export interface ListKeysResponse__Output {
  'keys': (_fxd_v1_Key__Output)[];
}
