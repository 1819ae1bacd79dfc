// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * "The terminal answered for this range completely." Sent only after the bars of the range were acked.
 * An Ack means that the window is stored: coverage shows it. The part of it beyond the feed's present is cut off.
 */
export interface Window {
  'sequence'?: (number | string | Long);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Half-open [from, to). `from` is 1 or later and `to` lies after 1970: a window of 1970 is refused.
   */
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
}

/**
 * "The terminal answered for this range completely." Sent only after the bars of the range were acked.
 * An Ack means that the window is stored: coverage shows it. The part of it beyond the feed's present is cut off.
 */
export interface Window__Output {
  'sequence': (number);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Half-open [from, to). `from` is 1 or later and `to` lies after 1970: a window of 1970 is refused.
   */
  'from': (number);
  'to': (number);
}
