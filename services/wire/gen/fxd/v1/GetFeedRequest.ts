// Original file: proto/fxd/v1/registry.proto


export interface GetFeedRequest {
  'key'?: (string);
  /**
   * `next_symbol` of the page before; empty: from the first.
   */
  'afterSymbol'?: (string);
}

export interface GetFeedRequest__Output {
  'key': (string);
  /**
   * `next_symbol` of the page before; empty: from the first.
   */
  'afterSymbol': (string);
}
