// Original file: proto/fxd/v1/registry.proto


export interface ListKeysRequest {
  /**
   * `next` of the page before; empty: from the first.
   */
  'after'?: (string);
}

export interface ListKeysRequest__Output {
  /**
   * `next` of the page before; empty: from the first.
   */
  'after': (string);
}
