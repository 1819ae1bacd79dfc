// Original file: proto/fxd/v1/collector.proto

import type { Lane as _fxd_v1_Lane, Lane__Output as _fxd_v1_Lane__Output } from '../../fxd/v1/Lane.ts';
import type { SeriesBars as _fxd_v1_SeriesBars, SeriesBars__Output as _fxd_v1_SeriesBars__Output } from '../../fxd/v1/SeriesBars.ts';
import type { Long } from '@grpc/proto-loader';

export interface Bars {
  /**
   * Starts with 1 in each session and increases by one with each Bars or Window message.
   */
  'sequence'?: (number | string | Long);
  'lane'?: (_fxd_v1_Lane);
  /**
   * At most 5,000 bars, and 32 partitions, over all series. A partition is the bars of one resolution in a week from
   * Monday (1), a calendar month (5, 10, 15) or a calendar year (all others), on the feed's clock. A message with more
   * is refused as a whole: send it by time.
   */
  'series'?: (_fxd_v1_SeriesBars)[];
}

export interface Bars__Output {
  /**
   * Starts with 1 in each session and increases by one with each Bars or Window message.
   */
  'sequence': (number);
  'lane': (_fxd_v1_Lane__Output);
  /**
   * At most 5,000 bars, and 32 partitions, over all series. A partition is the bars of one resolution in a week from
   * Monday (1), a calendar month (5, 10, 15) or a calendar year (all others), on the feed's clock. A message with more
   * is refused as a whole: send it by time.
   */
  'series': (_fxd_v1_SeriesBars__Output)[];
}
