// Original file: proto/fxd/v1/registry.proto


export interface RemoveSymbolRequest {
  /**
   * BROKER:ACCOUNT
   */
  'feed'?: (string);
  /**
   * The clean name, without the feed.
   */
  'symbol'?: (string);
}

export interface RemoveSymbolRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'feed': (string);
  /**
   * The clean name, without the feed.
   */
  'symbol': (string);
}
