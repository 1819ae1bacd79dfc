// Original file: proto/fxd/v1/registry.proto


export interface BeginStoreResponse {
  /**
   * The new identity of the store.
   */
  'storeIdentity'?: (string);
}

export interface BeginStoreResponse__Output {
  /**
   * The new identity of the store.
   */
  'storeIdentity': (string);
}
