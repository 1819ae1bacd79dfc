// Original file: proto/fxd/v1/collector.proto


export interface CataloguedName {
  'raw'?: (string);
  'symbol'?: (string);
}

export interface CataloguedName__Output {
  'raw': (string);
  'symbol': (string);
}
