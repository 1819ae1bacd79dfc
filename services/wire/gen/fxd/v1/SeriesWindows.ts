// Original file: proto/fxd/v1/registry.proto


export interface SeriesWindows {
  /**
   * Compound key; empty: windows of all symbols of the feed.
   */
  'symbol'?: (string);
  'resolution'?: (string);
  /**
   * Number of separate windows.
   */
  'count'?: (number);
}

export interface SeriesWindows__Output {
  /**
   * Compound key; empty: windows of all symbols of the feed.
   */
  'symbol': (string);
  'resolution': (string);
  /**
   * Number of separate windows.
   */
  'count': (number);
}
