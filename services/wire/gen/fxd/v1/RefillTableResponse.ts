// Original file: proto/fxd/v1/registry.proto


export interface RefillTableResponse {
}

export interface RefillTableResponse__Output {
}
