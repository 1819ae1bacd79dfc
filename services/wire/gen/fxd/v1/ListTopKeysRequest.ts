// Original file: proto/fxd/v1/registry.proto


export interface ListTopKeysRequest {
  /**
   * Maximum keys in the answer, 1 to 200.
   */
  'limit'?: (number);
}

export interface ListTopKeysRequest__Output {
  /**
   * Maximum keys in the answer, 1 to 200.
   */
  'limit': (number);
}
