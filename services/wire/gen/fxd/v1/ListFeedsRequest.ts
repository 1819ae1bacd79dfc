// Original file: proto/fxd/v1/registry.proto


export interface ListFeedsRequest {
  /**
   * `next` of the previous page; empty: the first page.
   */
  'after'?: (string);
}

export interface ListFeedsRequest__Output {
  /**
   * `next` of the previous page; empty: the first page.
   */
  'after': (string);
}
