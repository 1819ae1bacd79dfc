// Original file: proto/fxd/v1/registry.proto


export interface GetKeyRequest {
  'id'?: (string);
}

export interface GetKeyRequest__Output {
  'id': (string);
}
