// Original file: proto/fxd/v1/registry.proto


export interface GetFeedRequest {
  'key'?: (string);
}

export interface GetFeedRequest__Output {
  'key': (string);
}
