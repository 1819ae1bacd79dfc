// Original file: proto/fxd/v1/registry.proto


export interface RemoveSymbolRequest {
  /**
   * BROKER:ACCOUNT
   */
  'feed'?: (string);
  /**
   * The clean name, without the feed. A hidden name without bars is freed: it no longer counts.
   */
  'symbol'?: (string);
  /**
   * Free all hidden names without bars; `symbol` is empty then.
   */
  'hidden'?: (boolean);
}

export interface RemoveSymbolRequest__Output {
  /**
   * BROKER:ACCOUNT
   */
  'feed': (string);
  /**
   * The clean name, without the feed. A hidden name without bars is freed: it no longer counts.
   */
  'symbol': (string);
  /**
   * Free all hidden names without bars; `symbol` is empty then.
   */
  'hidden': (boolean);
}
