// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface Welcome {
  /**
   * false: another collector is active; this one stands by and is welcomed again when it takes over.
   */
  'active'?: (boolean);
  'epoch'?: (number | string | Long);
  /**
   * Ingest's clock: revisions are counted by it.
   */
  'utcMs'?: (number | string | Long);
  /**
   * "Now" on the feed's clock; absent while the clock is unknown.
   */
  'feedNow'?: (number | string | Long);
  /**
   * What may be pushed: the resolutions of the feed's definition, without 30, which is derived from 1 when it is read.
   */
  'resolutions'?: (string)[];
  /**
   * Prices may carry one decimal more than the symbol's digits.
   */
  'midQuoted'?: (boolean);
  '_feedNow'?: "feedNow";
}

export interface Welcome__Output {
  /**
   * false: another collector is active; this one stands by and is welcomed again when it takes over.
   */
  'active': (boolean);
  'epoch': (number);
  /**
   * Ingest's clock: revisions are counted by it.
   */
  'utcMs': (number);
  /**
   * "Now" on the feed's clock; absent while the clock is unknown.
   */
  'feedNow'?: (number);
  /**
   * What may be pushed: the resolutions of the feed's definition, without 30, which is derived from 1 when it is read.
   */
  'resolutions': (string)[];
  /**
   * Prices may carry one decimal more than the symbol's digits.
   */
  'midQuoted': (boolean);
  '_feedNow'?: "feedNow";
}
