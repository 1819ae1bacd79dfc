// Original file: proto/fxd/v1/registry.proto


/**
 * A token that allows collectors only to push these feeds.
 */
export interface IssueFeedTokenRequest {
  'feeds'?: (string)[];
  /**
   * A date (the end of that UTC day), an instant, ISO 8601, or a duration such as 90d.
   */
  'expires'?: (string);
}

/**
 * A token that allows collectors only to push these feeds.
 */
export interface IssueFeedTokenRequest__Output {
  'feeds': (string)[];
  /**
   * A date (the end of that UTC day), an instant, ISO 8601, or a duration such as 90d.
   */
  'expires': (string);
}
