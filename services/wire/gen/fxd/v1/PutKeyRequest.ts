// Original file: proto/fxd/v1/registry.proto

import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from '../../fxd/v1/KeyLimits.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * Always contains all fields: absent ones are removed.
 */
export interface PutKeyRequest {
  /**
   * 1 to 64 of a-z, 0-9, _ and -.
   */
  'id'?: (string);
  /**
   * UID of the object that owns the key; never empty.
   */
  'owner'?: (string);
  /**
   * Starts with 1 and increases by one per rotation.
   */
  'issue'?: (number);
  /**
   * SHA-256 of the secret, 32 bytes.
   */
  'sha256'?: (Buffer | Uint8Array | string);
  /**
   * First 8 characters of the secret.
   */
  'prefix'?: (string);
  'name'?: (string);
  'plan'?: (string);
  /**
   * Empty: the key grants nothing.
   */
  'feeds'?: (string)[];
  'limits'?: (_fxd_v1_KeyLimits | null);
  'allowIps'?: (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires'?: (string);
  /**
   * When the secrets of earlier issues expire, UTC milliseconds, at most 90 days ahead; 0: immediately. Applies only when
   * the issue is higher than the stored one.
   */
  'oldUntil'?: (number | string | Long);
  /**
   * UID of a deleted object whose key is taken over.
   */
  'previousOwner'?: (string);
  /**
   * Version of the key's record on which the change is based; 0: no record exists; absent: any version. A repeat that
   * changes nothing is accepted with any version.
   */
  'basedOn'?: (number | string | Long);
  '_basedOn'?: "basedOn";
}

/**
 * Always contains all fields: absent ones are removed.
 */
export interface PutKeyRequest__Output {
  /**
   * 1 to 64 of a-z, 0-9, _ and -.
   */
  'id': (string);
  /**
   * UID of the object that owns the key; never empty.
   */
  'owner': (string);
  /**
   * Starts with 1 and increases by one per rotation.
   */
  'issue': (number);
  /**
   * SHA-256 of the secret, 32 bytes.
   */
  'sha256': (Buffer);
  /**
   * First 8 characters of the secret.
   */
  'prefix': (string);
  'name': (string);
  'plan': (string);
  /**
   * Empty: the key grants nothing.
   */
  'feeds': (string)[];
  'limits': (_fxd_v1_KeyLimits__Output | null);
  'allowIps': (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires': (string);
  /**
   * When the secrets of earlier issues expire, UTC milliseconds, at most 90 days ahead; 0: immediately. Applies only when
   * the issue is higher than the stored one.
   */
  'oldUntil': (number);
  /**
   * UID of a deleted object whose key is taken over.
   */
  'previousOwner': (string);
  /**
   * Version of the key's record on which the change is based; 0: no record exists; absent: any version. A repeat that
   * changes nothing is accepted with any version.
   */
  'basedOn'?: (number);
  '_basedOn'?: "basedOn";
}
