// Original file: proto/fxd/v1/registry.proto


export interface AcceptTerminalRequest {
  /**
   * BROKER:ACCOUNT
   */
  'key'?: (string);
}

export interface AcceptTerminalRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'key': (string);
}
