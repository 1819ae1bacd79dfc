// Original file: proto/fxd/v1/collector.proto


export interface CatalogueRefusal {
  /**
   * As it was sent: the raw name, of an import the clean one.
   */
  'raw'?: (string);
  'reason'?: (string);
}

export interface CatalogueRefusal__Output {
  /**
   * As it was sent: the raw name, of an import the clean one.
   */
  'raw': (string);
  'reason': (string);
}
