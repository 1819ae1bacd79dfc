// Original file: proto/fxd/v1/registry.proto


export interface ListFeedsRequest {
}

export interface ListFeedsRequest__Output {
}
