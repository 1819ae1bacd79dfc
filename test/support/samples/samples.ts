import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../services/core/feeds/feed.ts'
import { resolutions } from '../../../services/core/feeds/resolution.ts'
import type { SymbolRecord } from '../../../services/core/feeds/symbol.ts'

/** A feed with a UTC clock, all resolutions and the source Push; `change` overrides its fields. */
export function definition(change: Partial<FeedDefinition> = {}): FeedDefinition {
  const { broker = 'BROKERA', account = 'ZERO' } = change
  return {
    key: feedKey(broker, account),
    name: `${broker}-${account}`.toLowerCase(),
    broker,
    account,
    brokerName: broker,
    description: 'BrokerA Zero',
    clock: { mode: 'UTC' },
    quoteBasis: 'Bid',
    resolutions,
    delaySeconds: 0,
    liveness: 'heartbeat',
    depth: {},
    retention: {},
    storageBuckets: 4,
    suffixes: [],
    symbols: [],
    source: { type: 'Push' },
    ...change,
  }
}

/** The symbol EURUSD of that feed. */
export function symbolRecord(change: Partial<SymbolRecord> = {}): SymbolRecord {
  const feed = feedKey('BROKERA', 'ZERO')
  return {
    symbol: compoundKey(feed, 'EURUSD'),
    feed,
    name: 'EURUSD',
    raw: 'EURUSD',
    display: 'EURUSD',
    description: 'Euro vs US Dollar',
    type: 'forex',
    digits: 5,
    session: '24x5',
    delaySeconds: 0,
    origin: 'manifest',
    hidden: false,
    ...change,
  }
}
