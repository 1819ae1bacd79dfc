// Original file: proto/fxd/v1/registry.proto


export interface RevokeKeyRequest {
  'id'?: (string);
}

export interface RevokeKeyRequest__Output {
  'id': (string);
}
