import type { Source } from '../collector/source.ts'
import { createMt5Csv } from '../collector/sources/mt5-csv/mt5-csv.ts'
import { createSimulator } from '../collector/sources/simulator/simulator.ts'
import type { FeedDefinition } from '../core/feed.ts'
import type { Log } from '../platform/log.ts'
import type { Clock } from '../ports/clock.ts'

/** Where the bars of a feed come from; `undefined` where some collector in another process pushes them. */
export function sourceOf(definition: FeedDefinition, clock: Clock, log: Log): Source | undefined {
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
