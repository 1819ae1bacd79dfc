import type { FeedClock, FeedSeconds } from '../clocks/feed-clock.ts'
import type { FeedKey } from './compound-key.ts'
import type { Resolution } from './resolution.ts'
import type { Session, SymbolType } from './symbol.ts'

export type QuoteBasis = 'Bid' | 'Mid'

/** How far back a collector reads missing bars: this many seconds before now, or since a date on the feed's clock. */
export type Depth = { readonly seconds: number } | { readonly since: FeedSeconds }

export interface ListedSymbol {
  readonly raw: string
  /** The clean name; absent: the raw name without a suffix of the feed. */
  readonly name?: string | undefined
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
  | { readonly type: 'Terminal' }

export const storageBucketsDefault = 4

/** A parsed and valid Feed manifest; the same on one machine and in Kubernetes. */
export interface FeedDefinition {
  readonly key: FeedKey
  /** `metadata.name` */
  readonly name: string
  readonly broker: string
  readonly account: string
  /** Name of the broker in the list `exchanges` of the config endpoint; by default `broker`. */
  readonly brokerName: string
  readonly description: string
  readonly clock: FeedClock
  readonly quoteBasis: QuoteBasis
  readonly resolutions: readonly Resolution[]
  /** Default of the feed; `delaySeconds` of a symbol overrides it. */
  readonly delaySeconds: number
  /** Whether liveness is derived from heartbeats of the collector, or from bars. */
  readonly liveness: 'heartbeat' | 'candle'
  readonly depth: Readonly<Partial<Record<Resolution, Depth>>>
  /** Maximum age of a bar in seconds; absent: none. Ingest rejects older ones; only QuestDB removes those that age. */
  readonly retention: Readonly<Partial<Record<Resolution, number>>>
  /** Ingest rejects bars before it, such as those of a terminal with a wrong clock. Absent: from 1970 on all are kept. */
  readonly earliest?: FeedSeconds
  readonly storageBuckets: number
  readonly suffixes: readonly string[]
  readonly symbols: readonly ListedSymbol[]
  readonly source: FeedSource
}

/** UID of the object that owns a feed; `operator`: of an object that is yet to come; `undefined`: manifests. */
export type FeedOwner = string | undefined

export interface FeedRecord {
  readonly definition: FeedDefinition
  readonly owner?: FeedOwner
  /** No manifest names the feed any more: its symbols are not shown, its bars stay. */
  readonly hidden: boolean
}
