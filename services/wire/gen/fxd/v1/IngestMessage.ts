// Original file: proto/fxd/v1/collector.proto

import type { Welcome as _fxd_v1_Welcome, Welcome__Output as _fxd_v1_Welcome__Output } from '../../fxd/v1/Welcome.ts';
import type { Known as _fxd_v1_Known, Known__Output as _fxd_v1_Known__Output } from '../../fxd/v1/Known.ts';
import type { Catalogued as _fxd_v1_Catalogued, Catalogued__Output as _fxd_v1_Catalogued__Output } from '../../fxd/v1/Catalogued.ts';
import type { Ack as _fxd_v1_Ack, Ack__Output as _fxd_v1_Ack__Output } from '../../fxd/v1/Ack.ts';
import type { Refused as _fxd_v1_Refused, Refused__Output as _fxd_v1_Refused__Output } from '../../fxd/v1/Refused.ts';
import type { Slow as _fxd_v1_Slow, Slow__Output as _fxd_v1_Slow__Output } from '../../fxd/v1/Slow.ts';

export interface IngestMessage {
  'welcome'?: (_fxd_v1_Welcome | null);
  'known'?: (_fxd_v1_Known | null);
  'catalogued'?: (_fxd_v1_Catalogued | null);
  'ack'?: (_fxd_v1_Ack | null);
  'refused'?: (_fxd_v1_Refused | null);
  'slow'?: (_fxd_v1_Slow | null);
  'message'?: "welcome"|"known"|"catalogued"|"ack"|"refused"|"slow";
}

export interface IngestMessage__Output {
  'welcome'?: (_fxd_v1_Welcome__Output | null);
  'known'?: (_fxd_v1_Known__Output | null);
  'catalogued'?: (_fxd_v1_Catalogued__Output | null);
  'ack'?: (_fxd_v1_Ack__Output | null);
  'refused'?: (_fxd_v1_Refused__Output | null);
  'slow'?: (_fxd_v1_Slow__Output | null);
  'message'?: "welcome"|"known"|"catalogued"|"ack"|"refused"|"slow";
}
