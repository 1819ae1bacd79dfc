// Original file: proto/fxd/v1/registry.proto

import type { KeyUse as _fxd_v1_KeyUse, KeyUse__Output as _fxd_v1_KeyUse__Output } from '../../fxd/v1/KeyUse.ts';

/**
 * Most requests first. Keys without use on this UTC day are absent, keys revoked on it are not.
 */
export interface ListTopKeysResponse {
  'keys'?: (_fxd_v1_KeyUse)[];
}

/**
 * Most requests first. Keys without use on this UTC day are absent, keys revoked on it are not.
 */
export interface ListTopKeysResponse__Output {
  'keys': (_fxd_v1_KeyUse__Output)[];
}
