// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface KnownSeries {
  /**
   * Clean name; empty in an entry that holds the windows of the whole catalogue.
   */
  'symbol'?: (string);
  'raw'?: (string);
  'resolution'?: (string);
  /**
   * Open time of the newest stored bar.
   */
  'newest'?: (number | string | Long);
  /**
   * Acknowledged windows, half-open, ascending: from, to, from, to, …
   */
  'windows'?: (number | string | Long)[];
  '_newest'?: "newest";
}

export interface KnownSeries__Output {
  /**
   * Clean name; empty in an entry that holds the windows of the whole catalogue.
   */
  'symbol': (string);
  'raw': (string);
  'resolution': (string);
  /**
   * Open time of the newest stored bar.
   */
  'newest'?: (number);
  /**
   * Acknowledged windows, half-open, ascending: from, to, from, to, …
   */
  'windows': (number)[];
  '_newest'?: "newest";
}
