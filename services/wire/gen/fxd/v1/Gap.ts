// Original file: proto/fxd/v1/collector.proto

import type { Long } from '@grpc/proto-loader';

/**
 * States that the bars of this range are lost, because a spool reached its limit.
 */
export interface Gap {
  'symbol'?: (string);
  'resolution'?: (string);
  'from'?: (number | string | Long);
  'to'?: (number | string | Long);
  'reason'?: (string);
}

/**
 * States that the bars of this range are lost, because a spool reached its limit.
 */
export interface Gap__Output {
  'symbol': (string);
  'resolution': (string);
  'from': (number);
  'to': (number);
  'reason': (string);
}
