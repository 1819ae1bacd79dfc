// Original file: proto/fxd/v1/registry.proto


export interface ListFeedsRequest {
  /**
   * `next` of the page before; empty: from the first.
   */
  'after'?: (string);
}

export interface ListFeedsRequest__Output {
  /**
   * `next` of the page before; empty: from the first.
   */
  'after': (string);
}
