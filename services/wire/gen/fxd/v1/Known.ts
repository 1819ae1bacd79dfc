// Original file: proto/fxd/v1/collector.proto

import type { KnownSeries as _fxd_v1_KnownSeries, KnownSeries__Output as _fxd_v1_KnownSeries__Output } from '../../fxd/v1/KnownSeries.ts';

/**
 * Sent after Welcome: what ingest has stored, in parts of at most 256 KiB. The collector computes which history to send
 * from Known and the feed's depth, newest first. Ingest requests no history. An import gets one empty part.
 * Windows that Known lacks are not stored. Send them again if the terminal answered for them, after the bars of
 * their range were acknowledged. A window in Known need not be sent again.
 */
export interface Known {
  'series'?: (_fxd_v1_KnownSeries)[];
  'last'?: (boolean);
}

/**
 * Sent after Welcome: what ingest has stored, in parts of at most 256 KiB. The collector computes which history to send
 * from Known and the feed's depth, newest first. Ingest requests no history. An import gets one empty part.
 * Windows that Known lacks are not stored. Send them again if the terminal answered for them, after the bars of
 * their range were acknowledged. A window in Known need not be sent again.
 */
export interface Known__Output {
  'series': (_fxd_v1_KnownSeries__Output)[];
  'last': (boolean);
}
