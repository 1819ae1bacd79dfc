// Original file: proto/fxd/v1/registry.proto


export interface RefillTableRequest {
  'table'?: (string);
}

export interface RefillTableRequest__Output {
  'table': (string);
}
