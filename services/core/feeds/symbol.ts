import type { FeedSeconds } from '../clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from './compound-key.ts'

export const symbolTypes = ['forex', 'crypto', 'index', 'cfd'] as const
export type SymbolType = (typeof symbolTypes)[number]

/** What people call the types otherwise. */
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

/** Where nobody says when a symbol trades. */
export const sessionOfType = (type: SymbolType): Session => (type === 'crypto' ? '24x7' : '24x5')

/**
 * What any origin may say of a symbol at most. Prices are integers below 2^53 on the wire: more
 * decimals leave no room before the point.
 */
export const digitsMax = 10
export const delaySecondsMax = 86_400
export const descriptionLengthMax = 256

/** Who said it; for a symbol's fields the manifest wins over the collector, the collector over an import. */
export const symbolOrigins = ['manifest', 'collector', 'import'] as const
export type SymbolOrigin = (typeof symbolOrigins)[number]

/** An instrument of a feed, as the registry keeps it; what the API shows is derived from it and its feed. */
export interface SymbolRecord {
  readonly symbol: CompoundKey
  readonly feed: FeedKey
  /** The clean name: the third part of the compound key. */
  readonly name: string
  /** The terminal's own name, kept for every call to the terminal. */
  readonly raw: string
  readonly display: string
  /** The symbol's own words; the API adds the feed's. */
  readonly description: string
  readonly type: SymbolType
  readonly digits: number
  readonly session: Session
  readonly delaySeconds: number
  readonly origin: SymbolOrigin
  /** Feed-wide windows cover this symbol from here on; `undefined`: no live session ever listed it. */
  readonly since?: FeedSeconds | undefined
  readonly hidden: boolean
}
