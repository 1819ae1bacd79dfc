// Original file: proto/fxd/v1/collector.proto


/**
 * Ingest's queue is full: send no further backfill for so long.
 */
export interface Slow {
  'pauseMs'?: (number);
}

/**
 * Ingest's queue is full: send no further backfill for so long.
 */
export interface Slow__Output {
  'pauseMs': (number);
}
