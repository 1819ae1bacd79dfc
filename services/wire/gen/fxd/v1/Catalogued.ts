// Original file: proto/fxd/v1/collector.proto

import type { CataloguedName as _fxd_v1_CataloguedName, CataloguedName__Output as _fxd_v1_CataloguedName__Output } from '../../fxd/v1/CataloguedName.ts';
import type { CatalogueRefusal as _fxd_v1_CatalogueRefusal, CatalogueRefusal__Output as _fxd_v1_CatalogueRefusal__Output } from '../../fxd/v1/CatalogueRefusal.ts';
import type { Long } from '@grpc/proto-loader';

export interface Catalogued {
  'revision'?: (number | string | Long);
  'names'?: (_fxd_v1_CataloguedName)[];
  'refused'?: (_fxd_v1_CatalogueRefusal)[];
  'last'?: (boolean);
}

export interface Catalogued__Output {
  'revision': (number);
  'names': (_fxd_v1_CataloguedName__Output)[];
  'refused': (_fxd_v1_CatalogueRefusal__Output)[];
  'last': (boolean);
}
