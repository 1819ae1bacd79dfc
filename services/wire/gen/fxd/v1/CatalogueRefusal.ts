// Original file: proto/fxd/v1/collector.proto


export interface CatalogueRefusal {
  /**
   * The name as sent: the raw name, or the clean name of an import.
   */
  'raw'?: (string);
  'reason'?: (string);
}

export interface CatalogueRefusal__Output {
  /**
   * The name as sent: the raw name, or the clean name of an import.
   */
  'raw': (string);
  'reason': (string);
}
