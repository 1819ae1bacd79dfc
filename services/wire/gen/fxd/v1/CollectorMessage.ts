// Original file: proto/fxd/v1/collector.proto

import type { Hello as _fxd_v1_Hello, Hello__Output as _fxd_v1_Hello__Output } from '../../fxd/v1/Hello.ts';
import type { Catalogue as _fxd_v1_Catalogue, Catalogue__Output as _fxd_v1_Catalogue__Output } from '../../fxd/v1/Catalogue.ts';
import type { Bars as _fxd_v1_Bars, Bars__Output as _fxd_v1_Bars__Output } from '../../fxd/v1/Bars.ts';
import type { Window as _fxd_v1_Window, Window__Output as _fxd_v1_Window__Output } from '../../fxd/v1/Window.ts';
import type { Gap as _fxd_v1_Gap, Gap__Output as _fxd_v1_Gap__Output } from '../../fxd/v1/Gap.ts';
import type { ClockSample as _fxd_v1_ClockSample, ClockSample__Output as _fxd_v1_ClockSample__Output } from '../../fxd/v1/ClockSample.ts';
import type { Heartbeat as _fxd_v1_Heartbeat, Heartbeat__Output as _fxd_v1_Heartbeat__Output } from '../../fxd/v1/Heartbeat.ts';

export interface CollectorMessage {
  'hello'?: (_fxd_v1_Hello | null);
  'catalogue'?: (_fxd_v1_Catalogue | null);
  'bars'?: (_fxd_v1_Bars | null);
  'window'?: (_fxd_v1_Window | null);
  'gap'?: (_fxd_v1_Gap | null);
  'clockSample'?: (_fxd_v1_ClockSample | null);
  'heartbeat'?: (_fxd_v1_Heartbeat | null);
  'message'?: "hello"|"catalogue"|"bars"|"window"|"gap"|"clockSample"|"heartbeat";
}

export interface CollectorMessage__Output {
  'hello'?: (_fxd_v1_Hello__Output | null);
  'catalogue'?: (_fxd_v1_Catalogue__Output | null);
  'bars'?: (_fxd_v1_Bars__Output | null);
  'window'?: (_fxd_v1_Window__Output | null);
  'gap'?: (_fxd_v1_Gap__Output | null);
  'clockSample'?: (_fxd_v1_ClockSample__Output | null);
  'heartbeat'?: (_fxd_v1_Heartbeat__Output | null);
  'message'?: "hello"|"catalogue"|"bars"|"window"|"gap"|"clockSample"|"heartbeat";
}
