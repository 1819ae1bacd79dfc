// Original file: proto/fxd/v1/collector.proto

import type { CatalogueSymbol as _fxd_v1_CatalogueSymbol, CatalogueSymbol__Output as _fxd_v1_CatalogueSymbol__Output } from '../../fxd/v1/CatalogueSymbol.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * In parts; applied as a whole when the last part is here. At most 10,000 symbols. Every session sends at least one
 * before its first Bars or Window message: those that come earlier are refused with REFUSAL_REASON_NOT_CATALOGUED,
 * get no Ack and use up no sequence. An empty one that is no snapshot is enough for a feed whose definition lists
 * all symbols; windows of the whole catalogue count only for symbols that a live session has listed.
 */
export interface Catalogue {
  /**
   * Grows with every change; the parts of one catalogue carry one revision.
   */
  'revision'?: (number | string | Long);
  /**
   * A snapshot removes what an earlier snapshot brought and this one lacks.
   */
  'snapshot'?: (boolean);
  'last'?: (boolean);
  'symbols'?: (_fxd_v1_CatalogueSymbol)[];
  /**
   * Raw names taken away by a delta.
   */
  'removed'?: (string)[];
}

/**
 * In parts; applied as a whole when the last part is here. At most 10,000 symbols. Every session sends at least one
 * before its first Bars or Window message: those that come earlier are refused with REFUSAL_REASON_NOT_CATALOGUED,
 * get no Ack and use up no sequence. An empty one that is no snapshot is enough for a feed whose definition lists
 * all symbols; windows of the whole catalogue count only for symbols that a live session has listed.
 */
export interface Catalogue__Output {
  /**
   * Grows with every change; the parts of one catalogue carry one revision.
   */
  'revision': (number);
  /**
   * A snapshot removes what an earlier snapshot brought and this one lacks.
   */
  'snapshot': (boolean);
  'last': (boolean);
  'symbols': (_fxd_v1_CatalogueSymbol__Output)[];
  /**
   * Raw names taken away by a delta.
   */
  'removed': (string)[];
}
