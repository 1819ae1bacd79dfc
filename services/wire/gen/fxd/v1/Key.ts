// Original file: proto/fxd/v1/registry.proto

import type { KeyLimits as _fxd_v1_KeyLimits, KeyLimits__Output as _fxd_v1_KeyLimits__Output } from '../../fxd/v1/KeyLimits.ts';
import type { Long } from '@grpc/proto-loader';

export interface Key {
  'id'?: (string);
  'name'?: (string);
  /**
   * First 8 characters of the key.
   */
  'prefix'?: (string);
  /**
   * basic | standard | pro | enterprise
   */
  'plan'?: (string);
  'limits'?: (_fxd_v1_KeyLimits | null);
  'feeds'?: (string)[];
  'allowIps'?: (string)[];
  /**
   * UTC milliseconds; absent: never.
   */
  'expiresAt'?: (number | string | Long);
  /**
   * active | expired | inactive
   */
  'state'?: (string);
  'createdAt'?: (number | string | Long);
  /**
   * Registry version of this record, on which a change is based.
   */
  'version'?: (number | string | Long);
  /**
   * When an old secret expires, UTC milliseconds.
   */
  'oldSecretUntil'?: (number | string | Long);
  /**
   * UID of the owning object; empty: the command line.
   */
  'owner'?: (string);
  /**
   * Issue of PutKey; 0: the command line generated the secret.
   */
  'issue'?: (number);
  /**
   * Old secrets that are still valid, at most 4. With 4 a rotation with overlap is refused.
   */
  'oldSecrets'?: (number);
  '_expiresAt'?: "expiresAt";
  '_oldSecretUntil'?: "oldSecretUntil";
}

export interface Key__Output {
  'id': (string);
  'name': (string);
  /**
   * First 8 characters of the key.
   */
  'prefix': (string);
  /**
   * basic | standard | pro | enterprise
   */
  'plan': (string);
  'limits': (_fxd_v1_KeyLimits__Output | null);
  'feeds': (string)[];
  'allowIps': (string)[];
  /**
   * UTC milliseconds; absent: never.
   */
  'expiresAt'?: (number);
  /**
   * active | expired | inactive
   */
  'state': (string);
  'createdAt': (number);
  /**
   * Registry version of this record, on which a change is based.
   */
  'version': (number);
  /**
   * When an old secret expires, UTC milliseconds.
   */
  'oldSecretUntil'?: (number);
  /**
   * UID of the owning object; empty: the command line.
   */
  'owner': (string);
  /**
   * Issue of PutKey; 0: the command line generated the secret.
   */
  'issue': (number);
  /**
   * Old secrets that are still valid, at most 4. With 4 a rotation with overlap is refused.
   */
  'oldSecrets': (number);
  '_expiresAt'?: "expiresAt";
  '_oldSecretUntil'?: "oldSecretUntil";
}
