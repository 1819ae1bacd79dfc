// Original file: proto/fxd/v1/registry.proto


export interface SuspendKeyRequest {
  'id'?: (string);
  'owner'?: (string);
}

export interface SuspendKeyRequest__Output {
  'id': (string);
  'owner': (string);
}
