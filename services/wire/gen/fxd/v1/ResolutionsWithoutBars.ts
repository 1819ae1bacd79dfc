// Original file: proto/fxd/v1/registry.proto


/**
 * The symbols that lack bars of the same resolutions.
 */
export interface ResolutionsWithoutBars {
  'resolutions'?: (string)[];
  /**
   * Positions in `Feed.symbols` of this page, from 0: names would make it too long.
   */
  'symbols'?: (number)[];
}

/**
 * The symbols that lack bars of the same resolutions.
 */
export interface ResolutionsWithoutBars__Output {
  'resolutions': (string)[];
  /**
   * Positions in `Feed.symbols` of this page, from 0: names would make it too long.
   */
  'symbols': (number)[];
}
