// Original file: proto/fxd/v1/collector.proto

import type { RefusedBar as _fxd_v1_RefusedBar, RefusedBar__Output as _fxd_v1_RefusedBar__Output } from '../../fxd/v1/RefusedBar.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * Sent before the Ack of its sequence, in parts of at most 256 KiB.
 */
export interface Refused {
  'sequence'?: (number | string | Long);
  'bars'?: (_fxd_v1_RefusedBar)[];
}

/**
 * Sent before the Ack of its sequence, in parts of at most 256 KiB.
 */
export interface Refused__Output {
  'sequence': (number);
  'bars': (_fxd_v1_RefusedBar__Output)[];
}
