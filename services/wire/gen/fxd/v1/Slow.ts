// Original file: proto/fxd/v1/collector.proto


/**
 * Ingest's queue is full: pause the backfill for this time.
 */
export interface Slow {
  'pauseMs'?: (number);
}

/**
 * Ingest's queue is full: pause the backfill for this time.
 */
export interface Slow__Output {
  'pauseMs': (number);
}
