// Original file: proto/fxd/v1/registry.proto


export interface RemoveFeedResponse {
  /**
   * Whether the feed is now hidden and belongs to this owner.
   */
  'removed'?: (boolean);
}

export interface RemoveFeedResponse__Output {
  /**
   * Whether the feed is now hidden and belongs to this owner.
   */
  'removed': (boolean);
}
