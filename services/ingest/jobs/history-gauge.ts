import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { depthInParts, firstReads } from '../registry/first-read.ts'
import type { FeedGaugesDeps } from './feed-gauges.ts'

type HistoryGaugeDeps = Omit<FeedGaugesDeps, 'board'>

/** Exports the progress of the first read of each feed with an active session here. It reads no store. */
export function exportHistoryGauge(deps: HistoryGaugeDeps): void {
  const { metrics, registry, sessions } = deps
  metrics.gauge(
    'fxd_ingest_symbols',
    'For each feed with its active session here: symbols without bars (none), with history still to be read for the first time (reading), and others (done).',
    ['feed', 'history'],
    (metric) => {
      metric.reset()
      if (!registry.loaded) return
      const view = registry.view()
      for (const feed of view.feeds()) {
        if (sessions.leaderCount(feed.key) === 0) continue
        for (const [history, count] of Object.entries(countSymbols(feed, view, deps)))
          metric.set({ feed: feed.key, history }, count)
      }
    },
  )
}

function countSymbols(
  definition: FeedDefinition,
  view: RegistryView,
  { states, clock }: HistoryGaugeDeps,
): Record<string, number> {
  const state = states.of(definition.key)
  const counts = { none: 0, reading: 0, done: 0 }
  if (state === undefined) return {}
  const firstRead = firstReads({
    startOf: (id) => state.windows.startOf(id),
    newest: state.newest,
    depth: depthInParts(definition),
    feedNow: state.now({ view, definition }, clock),
  })
  for (const symbol of view.allSymbolsOf(definition.key)) if (!symbol.hidden) counts[firstRead(symbol)] += 1
  return counts
}
