// Original file: proto/fxd/v1/collector.proto

import type { KnownSeries as _fxd_v1_KnownSeries, KnownSeries__Output as _fxd_v1_KnownSeries__Output } from '../../fxd/v1/KnownSeries.ts';

/**
 * After Welcome: what ingest holds, in parts of at most 256 KiB. By this and the feed's depth a collector knows
 * which history to send, newest first; ingest does not ask. An import gets one empty part.
 * Windows that Known lacks are not stored: send them again if the terminal answered for them, after the bars of
 * their range were acknowledged. A window that Known holds need not be sent again.
 */
export interface Known {
  'series'?: (_fxd_v1_KnownSeries)[];
  'last'?: (boolean);
}

/**
 * After Welcome: what ingest holds, in parts of at most 256 KiB. By this and the feed's depth a collector knows
 * which history to send, newest first; ingest does not ask. An import gets one empty part.
 * Windows that Known lacks are not stored: send them again if the terminal answered for them, after the bars of
 * their range were acknowledged. A window that Known holds need not be sent again.
 */
export interface Known__Output {
  'series': (_fxd_v1_KnownSeries__Output)[];
  'last': (boolean);
}
