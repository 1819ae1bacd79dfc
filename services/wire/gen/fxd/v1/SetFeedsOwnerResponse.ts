// Original file: proto/fxd/v1/registry.proto


export interface SetFeedsOwnerResponse {
  /**
   * How many feeds have another owner now.
   */
  'changed'?: (number);
}

export interface SetFeedsOwnerResponse__Output {
  /**
   * How many feeds have another owner now.
   */
  'changed': (number);
}
