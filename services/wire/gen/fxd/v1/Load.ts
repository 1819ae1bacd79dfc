// Original file: proto/fxd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Load {
  'connections'?: (number);
  /**
   * At this many the shard is full: not ready, and newcomers are refused.
   */
  'connectionsMax'?: (number);
  /**
   * Over all connections.
   */
  'subscriptions'?: (number | string | Long);
  /**
   * Bytes that wait for clients that read slowly.
   */
  'backlogBytes'?: (number | string | Long);
  'ready'?: (boolean);
  /**
   * Empty when ready.
   */
  'notReadyReason'?: (string);
  /**
   * Also once it is empty, until Undrain.
   */
  'draining'?: (boolean);
  /**
   * Of the drain; 0 when it is over or there is none.
   */
  'drainSecondsLeft'?: (number);
  /**
   * Sockets that drains closed at the minute's edge, since the process began.
   */
  'forcedCloses'?: (number | string | Long);
}

export interface Load__Output {
  'connections': (number);
  /**
   * At this many the shard is full: not ready, and newcomers are refused.
   */
  'connectionsMax': (number);
  /**
   * Over all connections.
   */
  'subscriptions': (number);
  /**
   * Bytes that wait for clients that read slowly.
   */
  'backlogBytes': (number);
  'ready': (boolean);
  /**
   * Empty when ready.
   */
  'notReadyReason': (string);
  /**
   * Also once it is empty, until Undrain.
   */
  'draining': (boolean);
  /**
   * Of the drain; 0 when it is over or there is none.
   */
  'drainSecondsLeft': (number);
  /**
   * Sockets that drains closed at the minute's edge, since the process began.
   */
  'forcedCloses': (number);
}
