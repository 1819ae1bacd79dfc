// Original file: proto/fxd/v1/registry.proto


export interface RemoveFeedRequest {
  /**
   * BROKER:ACCOUNT
   */
  'key'?: (string);
  'uid'?: (string);
}

export interface RemoveFeedRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'key': (string);
  'uid': (string);
}
