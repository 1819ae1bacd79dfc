// Original file: proto/fxd/v1/collector.proto

import type { RefusedBar as _fxd_v1_RefusedBar, RefusedBar__Output as _fxd_v1_RefusedBar__Output } from '../../fxd/v1/RefusedBar.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * Follows the Ack-less or partly acked batch: each entry names one bar by series and index in the message.
 */
export interface Refused {
  'sequence'?: (number | string | Long);
  'bars'?: (_fxd_v1_RefusedBar)[];
}

/**
 * Follows the Ack-less or partly acked batch: each entry names one bar by series and index in the message.
 */
export interface Refused__Output {
  'sequence': (number);
  'bars': (_fxd_v1_RefusedBar__Output)[];
}
