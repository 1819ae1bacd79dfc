// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Columns of equal length, strictly ascending in time. Every column is delta-coded: the first value, then differences.
 */
export interface SeriesBars {
  /**
   * Clean name.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Prices are integers: price * 10^scale. Digits, or digits + 1 on mid-quoted feeds.
   */
  'scale'?: (number);
  'time'?: (number | string | Long)[];
  'open'?: (number | string | Long)[];
  'high'?: (number | string | Long)[];
  'low'?: (number | string | Long)[];
  'close'?: (number | string | Long)[];
  'volume'?: (number | string | Long)[];
  /**
   * UTC milliseconds of the reading by ingest's clock; small numbers (1, 2, …) mark derived bars.
   */
  'revision'?: (number | string | Long)[];
}

/**
 * Columns of equal length, strictly ascending in time. Every column is delta-coded: the first value, then differences.
 */
export interface SeriesBars__Output {
  /**
   * Clean name.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Prices are integers: price * 10^scale. Digits, or digits + 1 on mid-quoted feeds.
   */
  'scale': (number);
  'time': (number)[];
  'open': (number)[];
  'high': (number)[];
  'low': (number)[];
  'close': (number)[];
  'volume': (number)[];
  /**
   * UTC milliseconds of the reading by ingest's clock; small numbers (1, 2, …) mark derived bars.
   */
  'revision': (number)[];
}
