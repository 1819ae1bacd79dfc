// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

export interface Welcome {
  /**
   * false: another collector is active. This one is standby and gets another Welcome when it takes over.
   */
  'active'?: (boolean);
  'epoch'?: (number | string | Long);
  /**
   * Ingest's clock, by which revisions are numbered.
   */
  'utcMs'?: (number | string | Long);
  /**
   * Current time of the feed's clock; absent while the clock is unknown.
   */
  'feedNow'?: (number | string | Long);
  /**
   * Accepted resolutions: those of the feed's definition without 30, which is derived from 1 when it is read.
   */
  'resolutions'?: (string)[];
  /**
   * Whether prices may have one decimal more than the symbol's digits.
   */
  'midQuoted'?: (boolean);
  /**
   * Bars of LIVE batches that may be without an Ack at once, over all sessions of the feed. A batch counts at least 10.
   * Absent from an ingest that accepts 64 LIVE batches.
   */
  'unackedBarsMax'?: (number);
  /**
   * The terminal that the feed accepts, as an earlier heartbeat named it. Absent: none yet, or an older ingest. A collector whose
   * terminals post to it refuses others. Also in the Welcome of a standby.
   */
  'terminalIdentity'?: (string);
  /**
   * Grows with each `fxd backfill` of the feed; 0: none yet.
   */
  'backfillVersion'?: (number | string | Long);
  '_feedNow'?: "feedNow";
  '_unackedBarsMax'?: "unackedBarsMax";
  '_terminalIdentity'?: "terminalIdentity";
}

export interface Welcome__Output {
  /**
   * false: another collector is active. This one is standby and gets another Welcome when it takes over.
   */
  'active': (boolean);
  'epoch': (number);
  /**
   * Ingest's clock, by which revisions are numbered.
   */
  'utcMs': (number);
  /**
   * Current time of the feed's clock; absent while the clock is unknown.
   */
  'feedNow'?: (number);
  /**
   * Accepted resolutions: those of the feed's definition without 30, which is derived from 1 when it is read.
   */
  'resolutions': (string)[];
  /**
   * Whether prices may have one decimal more than the symbol's digits.
   */
  'midQuoted': (boolean);
  /**
   * Bars of LIVE batches that may be without an Ack at once, over all sessions of the feed. A batch counts at least 10.
   * Absent from an ingest that accepts 64 LIVE batches.
   */
  'unackedBarsMax'?: (number);
  /**
   * The terminal that the feed accepts, as an earlier heartbeat named it. Absent: none yet, or an older ingest. A collector whose
   * terminals post to it refuses others. Also in the Welcome of a standby.
   */
  'terminalIdentity'?: (string);
  /**
   * Grows with each `fxd backfill` of the feed; 0: none yet.
   */
  'backfillVersion': (number);
  '_feedNow'?: "feedNow";
  '_unackedBarsMax'?: "unackedBarsMax";
  '_terminalIdentity'?: "terminalIdentity";
}
