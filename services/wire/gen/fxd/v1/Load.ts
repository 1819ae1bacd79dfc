// Original file: proto/fxd/v1/shard.proto

import type { Long } from '@grpc/proto-loader';

export interface Load {
  'connections'?: (number);
  /**
   * Maximum connections; at this number the shard is not ready and rejects new ones.
   */
  'connectionsMax'?: (number);
  /**
   * Number of subscriptions of all connections.
   */
  'subscriptions'?: (number | string | Long);
  /**
   * Bytes buffered for slow clients.
   */
  'backlogBytes'?: (number | string | Long);
  'ready'?: (boolean);
  /**
   * Why the shard is not ready; empty when it is.
   */
  'notReadyReason'?: (string);
  /**
   * True until Undrain, also after the last connection ended.
   */
  'draining'?: (boolean);
  /**
   * Remaining seconds of the drain; 0 when it is over or none runs.
   */
  'drainSecondsLeft'?: (number);
  /**
   * Sockets that drains closed at the end of a minute since the process started.
   */
  'forcedCloses'?: (number | string | Long);
}

export interface Load__Output {
  'connections': (number);
  /**
   * Maximum connections; at this number the shard is not ready and rejects new ones.
   */
  'connectionsMax': (number);
  /**
   * Number of subscriptions of all connections.
   */
  'subscriptions': (number);
  /**
   * Bytes buffered for slow clients.
   */
  'backlogBytes': (number);
  'ready': (boolean);
  /**
   * Why the shard is not ready; empty when it is.
   */
  'notReadyReason': (string);
  /**
   * True until Undrain, also after the last connection ended.
   */
  'draining': (boolean);
  /**
   * Remaining seconds of the drain; 0 when it is over or none runs.
   */
  'drainSecondsLeft': (number);
  /**
   * Sockets that drains closed at the end of a minute since the process started.
   */
  'forcedCloses': (number);
}
