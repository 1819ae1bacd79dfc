// Original file: proto/fxd/v1/shard.proto


export interface GetLoadRequest {
}

export interface GetLoadRequest__Output {
}
