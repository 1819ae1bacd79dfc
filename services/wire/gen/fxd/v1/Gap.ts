// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * "What lay here is lost": a spool reached its bound.
 */
export interface Gap {
  'symbol'?: (string);
  'resolution'?: (string);
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
  'reason'?: (string);
}

/**
 * "What lay here is lost": a spool reached its bound.
 */
export interface Gap__Output {
  'symbol': (string);
  'resolution': (string);
  'from': (number);
  'to': (number);
  'reason': (string);
}
