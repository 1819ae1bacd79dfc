// Original file: proto/fxd/v1/collector.proto


export interface CatalogueSymbol {
  /**
   * The terminal's name. The feed's symbol rules make the clean name from it. Imports leave it empty.
   */
  'raw'?: (string);
  /**
   * Imports only: the clean name, to which no rule is applied.
   */
  'name'?: (string);
  'display'?: (string);
  'description'?: (string);
  /**
   * forex | crypto | index | cfd; empty: cfd
   */
  'type'?: (string);
  /**
   * Required, 0 to 10; refused when absent.
   */
  'digits'?: (number);
  /**
   * 24x7 | 24x5; empty: by type
   */
  'session'?: (string);
  /**
   * Absent: as the feed.
   */
  'delaySeconds'?: (number);
  '_digits'?: "digits";
  '_delaySeconds'?: "delaySeconds";
}

export interface CatalogueSymbol__Output {
  /**
   * The terminal's name. The feed's symbol rules make the clean name from it. Imports leave it empty.
   */
  'raw': (string);
  /**
   * Imports only: the clean name, to which no rule is applied.
   */
  'name': (string);
  'display': (string);
  'description': (string);
  /**
   * forex | crypto | index | cfd; empty: cfd
   */
  'type': (string);
  /**
   * Required, 0 to 10; refused when absent.
   */
  'digits'?: (number);
  /**
   * 24x7 | 24x5; empty: by type
   */
  'session': (string);
  /**
   * Absent: as the feed.
   */
  'delaySeconds'?: (number);
  '_digits'?: "digits";
  '_delaySeconds'?: "delaySeconds";
}
