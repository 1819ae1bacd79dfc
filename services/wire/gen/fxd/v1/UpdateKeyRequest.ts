// Original file: proto/fxd/v1/registry.proto

import type { StringList as _fxd_v1_StringList, StringList__Output as _fxd_v1_StringList__Output } from '../../fxd/v1/StringList.ts';
import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from '../../fxd/v1/KeyLimits.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * Absent fields stay unchanged.
 */
export interface UpdateKeyRequest {
  'id'?: (string);
  'basedOn'?: (number | string | Long);
  'name'?: (string);
  'plan'?: (string);
  'feeds'?: (_fxd_v1_StringList | null);
  'limits'?: (_fxd_v1_KeyLimits | null);
  'allowIps'?: (_fxd_v1_StringList | null);
  /**
   * "never" removes the expiry.
   */
  'expires'?: (string);
  '_name'?: "name";
  '_plan'?: "plan";
  '_expires'?: "expires";
}

/**
 * Absent fields stay unchanged.
 */
export interface UpdateKeyRequest__Output {
  'id': (string);
  'basedOn': (number);
  'name'?: (string);
  'plan'?: (string);
  'feeds': (_fxd_v1_StringList__Output | null);
  'limits': (_fxd_v1_KeyLimits__Output | null);
  'allowIps': (_fxd_v1_StringList__Output | null);
  /**
   * "never" removes the expiry.
   */
  'expires'?: (string);
  '_name'?: "name";
  '_plan'?: "plan";
  '_expires'?: "expires";
}
