// Original file: proto/fxd/v1/registry.proto


export interface SetFeedsOwnerResponse {
  /**
   * Number of feeds with a new owner.
   */
  'changed'?: (number);
}

export interface SetFeedsOwnerResponse__Output {
  /**
   * Number of feeds with a new owner.
   */
  'changed': (number);
}
