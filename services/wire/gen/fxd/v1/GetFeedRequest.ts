// Original file: proto/fxd/v1/registry.proto


export interface GetFeedRequest {
  'key'?: (string);
  /**
   * `next_symbol` of the previous page; empty: the first page.
   */
  'afterSymbol'?: (string);
}

export interface GetFeedRequest__Output {
  'key': (string);
  /**
   * `next_symbol` of the previous page; empty: the first page.
   */
  'afterSymbol': (string);
}
