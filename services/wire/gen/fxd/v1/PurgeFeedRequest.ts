// Original file: proto/fxd/v1/registry.proto


export interface PurgeFeedRequest {
  'key'?: (string);
}

export interface PurgeFeedRequest__Output {
  'key': (string);
}
