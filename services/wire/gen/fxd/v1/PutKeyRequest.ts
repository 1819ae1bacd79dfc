// Original file: proto/fxd/v1/registry.proto

import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from '../../fxd/v1/KeyLimits.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * All fields every time: what is absent is taken away.
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
   * Grows by one per rotation, from 1.
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
  'feeds'?: (string)[];
  'limits'?: (_fxd_v1_KeyLimits | null);
  'allowIps'?: (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires'?: (string);
  /**
   * Until when the secrets of earlier issues are still accepted, UTC milliseconds; 0: not at all. Counts when the
   * issue is greater than the stored one, at most 90 days ahead.
   */
  'oldUntil'?: (number | string | Long);
  /**
   * UID of an object that is gone; its key is taken over.
   */
  'previousOwner'?: (string);
  /**
   * Version of the key's record that the change is based on, 0 where there is none; absent names none. What changes
   * nothing is accepted with any.
   */
  'basedOn'?: (number | string | Long);
  '_basedOn'?: "basedOn";
}

/**
 * All fields every time: what is absent is taken away.
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
   * Grows by one per rotation, from 1.
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
  'feeds': (string)[];
  'limits': (_fxd_v1_KeyLimits__Output | null);
  'allowIps': (string)[];
  /**
   * A date (the end of that UTC day) or an instant, ISO 8601; empty: never.
   */
  'expires': (string);
  /**
   * Until when the secrets of earlier issues are still accepted, UTC milliseconds; 0: not at all. Counts when the
   * issue is greater than the stored one, at most 90 days ahead.
   */
  'oldUntil': (number);
  /**
   * UID of an object that is gone; its key is taken over.
   */
  'previousOwner': (string);
  /**
   * Version of the key's record that the change is based on, 0 where there is none; absent names none. What changes
   * nothing is accepted with any.
   */
  'basedOn'?: (number);
  '_basedOn'?: "basedOn";
}
