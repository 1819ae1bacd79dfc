// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface KnownSeries {
  /**
   * Clean name; empty in an entry with windows of the whole catalogue. Long lists of windows are split into
   * several entries of one series.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Open time of the newest stored bar.
   */
  'newest'?: (number | string | Long);
  /**
   * Acknowledged windows, half-open, ascending, delta-coded: from, to, from, to, …
   */
  'windows'?: (number | string | Long)[];
  '_newest'?: "newest";
}

export interface KnownSeries__Output {
  /**
   * Clean name; empty in an entry with windows of the whole catalogue. Long lists of windows are split into
   * several entries of one series.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Open time of the newest stored bar.
   */
  'newest'?: (number);
  /**
   * Acknowledged windows, half-open, ascending, delta-coded: from, to, from, to, …
   */
  'windows': (number)[];
  '_newest'?: "newest";
}
