// Original file: proto/fxd/v1/registry.proto


export interface ListKeysRequest {
  /**
   * `next` of the previous page; empty: the first page.
   */
  'after'?: (string);
}

export interface ListKeysRequest__Output {
  /**
   * `next` of the previous page; empty: the first page.
   */
  'after': (string);
}
