// Original file: proto/fxd/v1/registry.proto


export interface GetClockRequest {
  /**
   * BROKER:ACCOUNT
   */
  'feed'?: (string);
}

export interface GetClockRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'feed': (string);
}
