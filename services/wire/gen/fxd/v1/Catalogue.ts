// Original file: proto/fxd/v1/collector.proto

import type { CatalogueSymbol as _fxd_v1_CatalogueSymbol, CatalogueSymbol__Output as _fxd_v1_CatalogueSymbol__Output } from '../../fxd/v1/CatalogueSymbol.ts';
import type { Long } from '@grpc/proto-loader';

/**
 * Sent in parts, and applied as a whole after the last part. At most 10,000 symbols, whose texts together have at most
 * 4,600,000 characters. A feed has at most 20,000 symbols, including hidden symbols and those of earlier catalogues and
 * imports. Ingest refuses further new names, except those of the manifest. Every session sends at least one catalogue
 * before its first Bars or Window message. Bars and Window messages before Catalogued are refused with REFUSAL_REASON_NOT_CATALOGUED, get no Ack and use no sequence.
 * An empty catalogue that is no snapshot suffices for a feed whose definition lists all symbols.
 * Windows of the whole catalogue count only for symbols that a live session has listed.
 */
export interface Catalogue {
  /**
   * Increases with every change. All parts of one catalogue have the same revision.
   */
  'revision'?: (number | string | Long);
  /**
   * A snapshot removes each symbol that it lacks and that an earlier snapshot or delta of a live session added.
   * Symbols of the manifest stay, and so do symbols that only an import added.
   */
  'snapshot'?: (boolean);
  'last'?: (boolean);
  'symbols'?: (_fxd_v1_CatalogueSymbol)[];
  /**
   * Raw names that a delta removes.
   */
  'removed'?: (string)[];
}

/**
 * Sent in parts, and applied as a whole after the last part. At most 10,000 symbols, whose texts together have at most
 * 4,600,000 characters. A feed has at most 20,000 symbols, including hidden symbols and those of earlier catalogues and
 * imports. Ingest refuses further new names, except those of the manifest. Every session sends at least one catalogue
 * before its first Bars or Window message. Bars and Window messages before Catalogued are refused with REFUSAL_REASON_NOT_CATALOGUED, get no Ack and use no sequence.
 * An empty catalogue that is no snapshot suffices for a feed whose definition lists all symbols.
 * Windows of the whole catalogue count only for symbols that a live session has listed.
 */
export interface Catalogue__Output {
  /**
   * Increases with every change. All parts of one catalogue have the same revision.
   */
  'revision': (number);
  /**
   * A snapshot removes each symbol that it lacks and that an earlier snapshot or delta of a live session added.
   * Symbols of the manifest stay, and so do symbols that only an import added.
   */
  'snapshot': (boolean);
  'last': (boolean);
  'symbols': (_fxd_v1_CatalogueSymbol__Output)[];
  /**
   * Raw names that a delta removes.
   */
  'removed': (string)[];
}
