// Original file: proto/fxd/v1/registry.proto


export interface BeginStoreRequest {
}

export interface BeginStoreRequest__Output {
}
