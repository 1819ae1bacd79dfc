// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * The store has committed what was good of the message; what was not stands in Refused before.
 */
export interface Ack {
  'sequence'?: (number | string | Long);
  /**
   * Bars of new times.
   */
  'accepted'?: (number);
  /**
   * Bars that differ from what was stored and win over it.
   */
  'revised'?: (number);
  /**
   * Bars equal to what is stored, or with a revision that could not win.
   */
  'unchanged'?: (number);
}

/**
 * The store has committed what was good of the message; what was not stands in Refused before.
 */
export interface Ack__Output {
  'sequence': (number);
  /**
   * Bars of new times.
   */
  'accepted': (number);
  /**
   * Bars that differ from what was stored and win over it.
   */
  'revised': (number);
  /**
   * Bars equal to what is stored, or with a revision that could not win.
   */
  'unchanged': (number);
}
