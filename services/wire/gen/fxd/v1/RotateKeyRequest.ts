// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

export interface RotateKeyRequest {
  'id'?: (string);
  'basedOn'?: (number | string | Long);
  /**
   * How long the old secret stays valid; 0: not at all.
   */
  'overlapMs'?: (number | string | Long);
}

export interface RotateKeyRequest__Output {
  'id': (string);
  'basedOn': (number);
  /**
   * How long the old secret stays valid; 0: not at all.
   */
  'overlapMs': (number);
}
