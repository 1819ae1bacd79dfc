// Original file: proto/fxd/v1/collector.proto

import type { RefusalReason as _fxd_v1_RefusalReason, RefusalReason__Output as _fxd_v1_RefusalReason__Output } from '../../fxd/v1/RefusalReason.ts';

export interface RefusedBar {
  'series'?: (number);
  'index'?: (number);
  'reason'?: (_fxd_v1_RefusalReason);
  'message'?: (string);
}

export interface RefusedBar__Output {
  'series': (number);
  'index': (number);
  'reason': (_fxd_v1_RefusalReason__Output);
  'message': (string);
}
