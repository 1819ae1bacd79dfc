import { isDeepStrictEqual } from 'node:util'
import { runCollector } from '../collector/collector.ts'
import type { CollectorMetrics } from '../collector/metrics.ts'
import type { Source } from '../collector/source.ts'
import { createMt5Csv } from '../collector/sources/mt5-csv/mt5-csv.ts'
import { createSimulator } from '../collector/sources/simulator/simulator.ts'
import type { TerminalFeed } from '../collector/sources/terminal/terminal-feed.ts'
import type { TerminalMetricsOf } from '../collector/sources/terminal/terminal-metrics.ts'
import { TerminalSource } from '../collector/sources/terminal/terminal-source.ts'
import type { Spool } from '../collector/spool/spool.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { Log } from '../platform/log/log.ts'
import { Serial } from '../platform/serial.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClientIdentity } from '../wire/client.ts'

export interface FeedCollector {
  stop(): Promise<void>
}

export interface Collectors {
  /** Collects exactly these feeds from now on: starts new ones, restarts changed ones, stops others. */
  follow(definitions: readonly FeedDefinition[]): void
  stop(): Promise<void>
}

interface Running {
  readonly definition: FeedDefinition
  readonly collector: FeedCollector | undefined
}

/** Runs one collector per feed; `start` returns `undefined` for a feed whose bars another process pushes. */
export function createCollectors(
  start: (definition: FeedDefinition) => FeedCollector | undefined,
  log: Log,
): Collectors {
  const running = new Map<FeedKey, Running>()
  const changes = new Serial()
  let stopped = false

  const failed =
    (feed: FeedKey, action: 'start' | 'stop') =>
    (cause: unknown): void =>
      log.error({ err: cause, feed, action }, 'failed to start or stop the collector of a feed')
  const change = async (definitions: readonly FeedDefinition[]): Promise<void> => {
    const wanted = new Map(definitions.map((definition) => [definition.key, definition]))
    const ending: Promise<void>[] = []
    for (const [key, { definition, collector }] of running) {
      if (isDeepStrictEqual(wanted.get(key), definition)) wanted.delete(key)
      else {
        running.delete(key)
        if (collector) ending.push(collector.stop().catch(failed(key, 'stop')))
      }
    }
    // The lease of the old collector of a changed feed would block the new one.
    await Promise.all(ending)
    if (stopped) return
    for (const [key, definition] of wanted) {
      try {
        running.set(key, { definition, collector: start(definition) })
      } catch (cause) {
        // The next change of the manifests retries it. The other collectors continue.
        failed(key, 'start')(cause)
      }
    }
  }
  const enqueue = (definitions: readonly FeedDefinition[]): Promise<void> =>
    changes.run(() => change(definitions))

  return {
    follow: (definitions) => void enqueue(definitions),
    stop() {
      stopped = true
      return enqueue([])
    },
  }
}

export interface FeedCollectorDeps {
  /** host:port of the ingests; each new connection uses the next one. */
  readonly addresses: readonly string[]
  readonly identity: () => ClientIdentity
  readonly clock: Clock
  readonly log: Log
  /** The spool of the only feed. Without it the source is read again after a crash. */
  readonly spool?: Spool
  readonly metrics?: CollectorMetrics
  /** The feeds of this process whose terminals post to it. */
  readonly terminals: Map<FeedKey, TerminalFeed>
  readonly terminalMetrics: TerminalMetricsOf
}

/** Starts to collect a feed over gRPC; returns `undefined` if a collector in another process pushes it. */
export function collect(definition: FeedDefinition, deps: FeedCollectorDeps): FeedCollector | undefined {
  const source = sourceOf(definition, deps)
  if (!source) return undefined
  const ending = new AbortController()
  const address = nextOf(deps.addresses)
  const metrics = deps.metrics?.of(definition.key)
  const ended = runCollector({ ...deps, metrics, address, definition, source, signal: ending.signal })
  return {
    stop() {
      ending.abort()
      deps.terminals.delete(definition.key)
      return ended
    },
  }
}

function nextOf(addresses: readonly string[]): () => string {
  let next = 0
  return () => addresses[next++ % addresses.length] ?? ''
}

function sourceOf(
  definition: FeedDefinition,
  { clock, log, terminals, terminalMetrics }: FeedCollectorDeps,
): Source | undefined {
  const { source } = definition
  switch (source.type) {
    case 'Push':
      return undefined
    case 'Mt5Csv':
      return createMt5Csv({ definition, path: source.path, follow: source.follow, clock, log })
    case 'Simulator':
      return createSimulator(definition, source.seed, clock)
    case 'Terminal': {
      const terminal = new TerminalSource({
        definition,
        clock,
        log,
        metrics: terminalMetrics(definition.key),
      })
      terminals.set(definition.key, terminal)
      return terminal
    }
  }
}
