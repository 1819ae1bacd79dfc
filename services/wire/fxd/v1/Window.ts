// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * "The terminal answered for this range completely." Sent only after the bars of the range were acked.
 */
export interface Window {
  'sequence'?: (number | string | Long);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Half-open [from, to).
   */
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
}

/**
 * "The terminal answered for this range completely." Sent only after the bars of the range were acked.
 */
export interface Window__Output {
  'sequence': (number);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Half-open [from, to).
   */
  'from': (number);
  'to': (number);
}
