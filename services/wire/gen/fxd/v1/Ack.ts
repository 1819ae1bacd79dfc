// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * The store has committed the accepted part of the message. Refused parts precede the Ack.
 */
export interface Ack {
  'sequence'?: (number | string | Long);
  /**
   * Number of bars with new times.
   */
  'accepted'?: (number);
  /**
   * Number of bars that differ from stored ones and replace them.
   */
  'revised'?: (number);
  /**
   * Number of bars that equal stored ones, or whose revision is too low to replace them.
   */
  'unchanged'?: (number);
}

/**
 * The store has committed the accepted part of the message. Refused parts precede the Ack.
 */
export interface Ack__Output {
  'sequence': (number);
  /**
   * Number of bars with new times.
   */
  'accepted': (number);
  /**
   * Number of bars that differ from stored ones and replace them.
   */
  'revised': (number);
  /**
   * Number of bars that equal stored ones, or whose revision is too low to replace them.
   */
  'unchanged': (number);
}
