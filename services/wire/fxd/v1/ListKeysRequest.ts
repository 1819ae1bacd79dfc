// Original file: proto/fxd/v1/registry.proto


export interface ListKeysRequest {
}

export interface ListKeysRequest__Output {
}
