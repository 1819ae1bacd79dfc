// Original file: proto/fxd/v1/registry.proto


export interface RemoveFeedResponse {
  /**
   * Whether the feed is hidden now, and this owner's.
   */
  'removed'?: (boolean);
}

export interface RemoveFeedResponse__Output {
  /**
   * Whether the feed is hidden now, and this owner's.
   */
  'removed': (boolean);
}
