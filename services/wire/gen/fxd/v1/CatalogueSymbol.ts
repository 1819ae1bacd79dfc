// Original file: proto/fxd/v1/collector.proto


export interface CatalogueSymbol {
  /**
   * The terminal's own name; the feed's suffix rules make the clean name of it. Imports leave it empty.
   */
  'raw'?: (string);
  /**
   * Imports only: the clean name as it is, no rule applied.
   */
  'name'?: (string);
  'display'?: (string);
  'description'?: (string);
  /**
   * forex | crypto | index | cfd; empty: cfd
   */
  'type'?: (string);
  /**
   * Required, 0 to 10: an absent one is refused.
   */
  'digits'?: (number);
  /**
   * 24x7 | 24x5; empty: by type
   */
  'session'?: (string);
  /**
   * Absent: the feed's.
   */
  'delaySeconds'?: (number);
  '_digits'?: "digits";
  '_delaySeconds'?: "delaySeconds";
}

export interface CatalogueSymbol__Output {
  /**
   * The terminal's own name; the feed's suffix rules make the clean name of it. Imports leave it empty.
   */
  'raw': (string);
  /**
   * Imports only: the clean name as it is, no rule applied.
   */
  'name': (string);
  'display': (string);
  'description': (string);
  /**
   * forex | crypto | index | cfd; empty: cfd
   */
  'type': (string);
  /**
   * Required, 0 to 10: an absent one is refused.
   */
  'digits'?: (number);
  /**
   * 24x7 | 24x5; empty: by type
   */
  'session': (string);
  /**
   * Absent: the feed's.
   */
  'delaySeconds'?: (number);
  '_digits'?: "digits";
  '_delaySeconds'?: "delaySeconds";
}
