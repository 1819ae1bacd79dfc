// Original file: proto/fxd/v1/registry.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Use of a key on this UTC day.
 */
export interface KeyUse {
  'id'?: (string);
  'name'?: (string);
  /**
   * First 8 characters of the key.
   */
  'prefix'?: (string);
  'plan'?: (string);
  'requests'?: (number | string | Long);
  'rateLimited'?: (number | string | Long);
  /**
   * Sockets open now.
   */
  'sockets'?: (number);
  /**
   * Maximum sockets open at the same time.
   */
  'socketsMax'?: (number);
}

/**
 * Use of a key on this UTC day.
 */
export interface KeyUse__Output {
  'id': (string);
  'name': (string);
  /**
   * First 8 characters of the key.
   */
  'prefix': (string);
  'plan': (string);
  'requests': (number);
  'rateLimited': (number);
  /**
   * Sockets open now.
   */
  'sockets': (number);
  /**
   * Maximum sockets open at the same time.
   */
  'socketsMax': (number);
}
