// Original file: proto/fxd/v1/collector.proto

import type { SessionMode as _fxd_v1_SessionMode, SessionMode__Output as _fxd_v1_SessionMode__Output } from '../../fxd/v1/SessionMode.ts';
import type { Capability as _fxd_v1_Capability, Capability__Output as _fxd_v1_Capability__Output } from '../../fxd/v1/Capability.ts';

export interface Hello {
  /**
   * BROKER:ACCOUNT
   */
  'feed'?: (string);
  'collectorId'?: (string);
  'mode'?: (_fxd_v1_SessionMode);
  'terminal'?: (string);
  'capabilities'?: (_fxd_v1_Capability)[];
}

export interface Hello__Output {
  /**
   * BROKER:ACCOUNT
   */
  'feed': (string);
  'collectorId': (string);
  'mode': (_fxd_v1_SessionMode__Output);
  'terminal': (string);
  'capabilities': (_fxd_v1_Capability__Output)[];
}
