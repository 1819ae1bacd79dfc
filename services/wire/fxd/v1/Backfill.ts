// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * Ingest asks for what its windows lack, newest first.
 */
export interface Backfill {
  'symbol'?: (string);
  'resolution'?: (string);
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
}

/**
 * Ingest asks for what its windows lack, newest first.
 */
export interface Backfill__Output {
  'symbol': (string);
  'resolution': (string);
  'from': (number);
  'to': (number);
}
