// Original file: proto/fxd/v1/registry.proto


export interface GetHealthRequest {
}

export interface GetHealthRequest__Output {
}
