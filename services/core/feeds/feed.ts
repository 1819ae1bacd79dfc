import type { FeedClock, FeedSeconds } from '../clocks/feed-clock.ts'
import type { FeedKey } from './compound-key.ts'
import type { Resolution } from './resolution.ts'
import type { Session, SymbolType } from './symbol.ts'

export type QuoteBasis = 'Bid' | 'Mid'

/** How far back healing may ask: so many seconds before now, or since a date on the feed's clock. */
export type Depth = { readonly seconds: number } | { readonly since: FeedSeconds }

export interface ListedSymbol {
  readonly raw: string
  readonly display?: string | undefined
  readonly description?: string | undefined
  readonly type: SymbolType
  readonly digits: number
  readonly session?: Session | undefined
  readonly delaySeconds?: number | undefined
}

export type FeedSource =
  | { readonly type: 'Push' }
  | { readonly type: 'Mt5Csv'; readonly path: string; readonly follow: boolean }
  | { readonly type: 'Simulator'; readonly seed: number }

/** What a Feed manifest says, parsed and validated; the same on one machine and in Kubernetes. */
export interface FeedDefinition {
  readonly key: FeedKey
  /** `metadata.name` */
  readonly name: string
  readonly broker: string
  readonly account: string
  /** The broker's name in words for the config's exchanges; by default the broker. */
  readonly brokerName: string
  readonly description: string
  readonly clock: FeedClock
  readonly quoteBasis: QuoteBasis
  readonly resolutions: readonly Resolution[]
  /** The feed's default; a symbol's own `delaySeconds` wins. */
  readonly delaySeconds: number
  /** Whether collectors report heartbeats, from which liveness is then derived. */
  readonly liveness: 'heartbeat' | 'candle'
  readonly depth: Readonly<Partial<Record<Resolution, Depth>>>
  /**
   * Seconds before now, beyond which ingest refuses bars; none keeps all. Only QuestDB removes what has grown
   * older: the embedded store keeps every bar until its feed is purged.
   */
  readonly retention: Readonly<Partial<Record<Resolution, number>>>
  readonly storageBuckets: number
  readonly suffixes: readonly string[]
  readonly symbols: readonly ListedSymbol[]
  readonly source: FeedSource
}

/** UID of the object that owns a feed; `operator`: the operator, for whatever object comes; `undefined`: manifests. */
export type FeedOwner = string | undefined

export interface FeedRecord {
  readonly definition: FeedDefinition
  readonly owner?: FeedOwner
  /** No manifest names it any more: its symbols are not shown, its bars stay. */
  readonly hidden: boolean
}
