// Original file: proto/fxd/v1/registry.proto


export interface SetFeedsOwnerRequest {
  /**
   * operator | manifests
   */
  'owner'?: (string);
}

export interface SetFeedsOwnerRequest__Output {
  /**
   * operator | manifests
   */
  'owner': (string);
}
