// Original file: proto/fxd/v1/registry.proto


/**
 * A token with which collectors may push these feeds and do nothing else.
 */
export interface IssueFeedTokenRequest {
  'feeds'?: (string)[];
  /**
   * A date (the end of that UTC day), an instant, ISO 8601, or a duration such as 90d.
   */
  'expires'?: (string);
}

/**
 * A token with which collectors may push these feeds and do nothing else.
 */
export interface IssueFeedTokenRequest__Output {
  'feeds': (string)[];
  /**
   * A date (the end of that UTC day), an instant, ISO 8601, or a duration such as 90d.
   */
  'expires': (string);
}
