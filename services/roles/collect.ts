import { runCollector } from '../collector/collector.ts'
import type { CollectorMetrics } from '../collector/metrics.ts'
import { createMt5Csv } from '../collector/sources/mt5-csv/mt5-csv.ts'
import { createSimulator } from '../collector/sources/simulator/simulator.ts'
import type { Source } from '../collector/sources/source.ts'
import type { Spool } from '../collector/spool/spool.ts'
import type { FeedDefinition } from '../core/feed.ts'
import type { Log } from '../platform/log/log.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClientIdentity } from '../wire/client.ts'
import type { Collecting } from './collectors.ts'

/** What the collectors of one process share. */
export interface CollectingDeps {
  /** host:port of the ingests, tried in turn. */
  readonly addresses: readonly string[]
  readonly identity: () => ClientIdentity
  readonly clock: Clock
  readonly log: Log
  /** Of the one feed that is collected. Without it the source is read again after a crash. */
  readonly spool?: Spool
  readonly metrics?: CollectorMetrics
}

/** Begins to collect a feed over gRPC; `undefined` where a collector in another process pushes it. */
export function collect(definition: FeedDefinition, deps: CollectingDeps): Collecting | undefined {
  const source = sourceOf(definition, deps.clock, deps.log)
  if (!source) return undefined
  const ending = new AbortController()
  const address = inTurn(deps.addresses)
  const ended = runCollector({ ...deps, address, definition, source, signal: ending.signal })
  return {
    stop() {
      ending.abort()
      return ended
    },
  }
}

function inTurn(addresses: readonly string[]): () => string {
  let next = 0
  return () => addresses[next++ % addresses.length] ?? ''
}

function sourceOf(definition: FeedDefinition, clock: Clock, log: Log): Source | undefined {
  const { source } = definition
  switch (source.type) {
    case 'Push':
      return undefined
    case 'Mt5Csv':
      return createMt5Csv({ definition, path: source.path, follow: source.follow, clock, log })
    case 'Simulator':
      return createSimulator(definition, source.seed, clock)
  }
}
