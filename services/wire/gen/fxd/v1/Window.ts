// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * States that the terminal answered completely for this range. Send it only after the bars of the range were acked.
 * Its Ack means that the window is stored and that coverage shows it. The part after the feed's current time is cut off.
 * Both ends are rounded up to the next time at which a bar of the resolution may open: a multiple of the duration up to
 * 15, else a whole minute. So no bar enters or leaves the window. Windows that then touch or overlap are joined. A series,
 * and the whole catalogue at one resolution, has at most 10,000 separate windows. All series of a feed together have at
 * most 50,000 beyond the first of each. At a limit ingest refuses a window that touches none of its series.
 */
export interface Window {
  'sequence'?: (number | string | Long);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Half-open [from, to). `from` is at least 1 and `to` is after 1970: a window of 1970 is refused.
   */
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
}

/**
 * States that the terminal answered completely for this range. Send it only after the bars of the range were acked.
 * Its Ack means that the window is stored and that coverage shows it. The part after the feed's current time is cut off.
 * Both ends are rounded up to the next time at which a bar of the resolution may open: a multiple of the duration up to
 * 15, else a whole minute. So no bar enters or leaves the window. Windows that then touch or overlap are joined. A series,
 * and the whole catalogue at one resolution, has at most 10,000 separate windows. All series of a feed together have at
 * most 50,000 beyond the first of each. At a limit ingest refuses a window that touches none of its series.
 */
export interface Window__Output {
  'sequence': (number);
  /**
   * Clean name; empty (live sessions only): every symbol of the session's catalogue.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Half-open [from, to). `from` is at least 1 and `to` is after 1970: a window of 1970 is refused.
   */
  'from': (number);
  'to': (number);
}
