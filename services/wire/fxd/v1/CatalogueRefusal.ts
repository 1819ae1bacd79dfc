// Original file: proto/fxd/v1/collector.proto


export interface CatalogueRefusal {
  'raw'?: (string);
  'reason'?: (string);
}

export interface CatalogueRefusal__Output {
  'raw': (string);
  'reason': (string);
}
