// Original file: proto/fxd/v1/collector.proto

import type { Lane as _fxd_v1_Lane, Lane__Output as _fxd_v1_Lane__Output } from '../../fxd/v1/Lane.ts';
import type { SeriesBars as _fxd_v1_SeriesBars, SeriesBars__Output as _fxd_v1_SeriesBars__Output } from '../../fxd/v1/SeriesBars.ts';
import type { Long } from '@grpc/proto-loader';

export interface Bars {
  /**
   * The first of a session is 1, each next Bars or Window message is one more.
   */
  'sequence'?: (number | string | Long);
  'lane'?: (_fxd_v1_Lane);
  /**
   * At most 5,000 bars over all series.
   */
  'series'?: (_fxd_v1_SeriesBars)[];
}

export interface Bars__Output {
  /**
   * The first of a session is 1, each next Bars or Window message is one more.
   */
  'sequence': (number);
  'lane': (_fxd_v1_Lane__Output);
  /**
   * At most 5,000 bars over all series.
   */
  'series': (_fxd_v1_SeriesBars__Output)[];
}
