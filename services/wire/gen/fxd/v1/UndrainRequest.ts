// Original file: proto/fxd/v1/shard.proto


export interface UndrainRequest {
}

export interface UndrainRequest__Output {
}
