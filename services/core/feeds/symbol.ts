import type { FeedSeconds, UtcMs } from '../clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from './compound-key.ts'

export const symbolTypes = ['forex', 'crypto', 'index', 'cfd'] as const
export type SymbolType = (typeof symbolTypes)[number]

export const symbolTypeNicknames: ReadonlyMap<string, SymbolType> = new Map([
  ['FX', 'forex'],
  ['CURRENCY', 'forex'],
  ['COIN', 'crypto'],
  ['INDICES', 'index'],
  ['STOCK', 'cfd'],
  ['SHARE', 'cfd'],
  ['EQUITY', 'cfd'],
  ['COMMODITY', 'cfd'],
  ['METAL', 'cfd'],
])

export const sessions = ['24x7', '24x5'] as const
export type Session = (typeof sessions)[number]

/** Default trading hours of a type, where no origin gives any. */
export const sessionOfType = (type: SymbolType): Session => (type === 'crypto' ? '24x7' : '24x5')

/** Prices are integers below 2^53 on the wire: more decimals leave too few digits before the point. */
export const digitsMax = 10
export const delaySecondsMax = 86_400
export const descriptionLengthMax = 256

/** Fields of a symbol come from the manifest before the collector, and from that before an import. */
export type SymbolOrigin = 'manifest' | 'collector' | 'import'

/** An instrument of a feed in the registry; the API derives what it shows from this and the feed. */
export interface SymbolRecord {
  readonly symbol: CompoundKey
  readonly feed: FeedKey
  /** The clean name: the third part of the compound key. */
  readonly name: string
  /** The name in the terminal, for every call to it. */
  readonly raw: string
  readonly display: string
  /** The description of the symbol; the API adds that of the feed. */
  readonly description: string
  readonly type: SymbolType
  readonly digits: number
  readonly session: Session
  readonly delaySeconds: number
  readonly origin: SymbolOrigin
  /** Feed-wide windows cover this symbol from this time on; `undefined`: no live session ever listed it. */
  readonly since?: FeedSeconds | undefined
  readonly hidden: boolean
  /** A hidden name without bars: since when ingest knows it as such. */
  readonly hiddenSince?: UtcMs | undefined
  /** The feed no longer has this hidden name: it does not count, and it is a new name if it is listed again. */
  readonly freed?: true | undefined
}
