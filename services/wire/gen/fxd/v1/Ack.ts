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
  /**
   * BACKFILL: the most closes of one series that differ from the stored ones by one ratio, as after a split of a share.
   * Differences of at most 10 units of the last decimal do not count.
   */
  'sameRatio'?: (number);
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
  /**
   * BACKFILL: the most closes of one series that differ from the stored ones by one ratio, as after a split of a share.
   * Differences of at most 10 units of the last decimal do not count.
   */
  'sameRatio': (number);
}
