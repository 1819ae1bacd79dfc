// Original file: proto/fxd/v1/registry.proto

import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from '../../fxd/v1/KeyLimits.ts';

export interface CreateKeyRequest {
  'name'?: (string);
  'plan'?: (string);
  'feeds'?: (string)[];
  'limits'?: (_fxd_v1_KeyLimits | null);
  'allowIps'?: (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires'?: (string);
}

export interface CreateKeyRequest__Output {
  'name': (string);
  'plan': (string);
  'feeds': (string)[];
  'limits': (_fxd_v1_KeyLimits__Output | null);
  'allowIps': (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires': (string);
}
