import { createTerminalMetrics } from '../collector/sources/terminal/terminal-metrics.ts'
import type { CompoundKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { Config } from '../platform/config.ts'
import { ownChartKeys, ownToken } from '../platform/credentials/token.ts'
import { formatAddress, reachable } from '../platform/listen.ts'
import { type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { untilAvailable } from '../platform/until-available.ts'
import { ingestConnectionsMax } from '../wire/limits.ts'
import { collectorsStopTimeoutMs } from './collector.ts'
import { collect, createCollectors } from './collectors.ts'
import { applyManifests, createReload, demoFeeds, issueFirstKey } from './feeds.ts'
import { startHttp, streamMaxima } from './http.ts'
import { startIngestEdge, writerOf } from './ingest.ts'
import { startChartKeys, startRestEdge } from './rest.ts'
import { openRuntime, type Runtime, startReading } from './runtime.ts'
import type { RoleOverrides } from './stores.ts'
import { startStreamEdge } from './stream.ts'
import { Terminals, terminalsStopTimeoutMs } from './terminals.ts'

export interface ShownFeed {
  readonly definition: FeedDefinition
  readonly symbols: readonly CompoundKey[]
}

export interface RunningAll {
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
  /** Where terminals post; `undefined` without a feed of source Terminal. */
  readonly terminalPort: number | undefined
  /** The secret of a key for the demo feeds; made while there is no key at all, and stored nowhere. */
  readonly firstKey: string | undefined
  /** The feeds of the manifests, with their known symbols. */
  feeds(): readonly ShownFeed[]
  /** Number of history bars that the collectors stored since the start. */
  backfilled(): Promise<number>
  reload(): Promise<void>
  /** Closes sockets with 1012 and lets requests finish, within seconds: no other process can serve these clients. */
  stop(): Promise<void>
}

/**
 * Runs the whole service in one process. Resolves when it is ready; bars of its collectors arrive later. Rejects
 * with `Fatal` if manifests are invalid, an address is in use or the data folder cannot be used; then everything is
 * stopped. While a remote store is unavailable it waits, is not ready, and REST answers 500.
 */
export const startAll = (config: Config, overrides: RoleOverrides = {}): Promise<RunningAll> =>
  runProcess(config, overrides, (context) => startParts(context, overrides))

async function startParts(context: ProcessContext, overrides: RoleOverrides): Promise<RunningAll> {
  const { config, clock, log, metrics, lifecycle } = context
  const runtime = await openRuntime(context, overrides, 'all', {
    ...streamMaxima(context),
    grpc: ingestConnectionsMax,
  })
  const { health, registry, waiting } = runtime
  // A remote store may be unavailable for long; then clients should get an error rather than no answer.
  const earlyHttpPort = runtime.areRemote ? await startEdges(context, runtime) : undefined
  const writer = writerOf(runtime)
  const feedsPath = config.feeds ?? demoFeeds
  const apply = () => applyManifests(feedsPath, { writer, bars: runtime.stores.bars })
  // Before the store is available, as in an ingest.
  const token = ownToken(config, clock)
  const { port: grpcPort, identity } = await startIngestEdge(context, runtime, { writer, token, apply })
  await runtime.loaded()
  const definitions = await untilAvailable(apply, waiting)
  const httpPort = earlyHttpPort ?? (await startEdges(context, runtime))
  // The key is made once all ports are open, so that a start that fails shows none.
  const wantsKey = config.feeds === undefined && registry.view().keys.all().length === 0
  const firstKey = wantsKey ? await issueFirstKey(writer, definitions, waiting) : undefined
  const terminals = new Terminals(context)
  const collectors = await lifecycle.start({
    name: 'collectors',
    start: () => {
      const addresses = [formatAddress({ ...reachable(config.grpcAddr), port: grpcPort })]
      const terminalMetrics = createTerminalMetrics(metrics)
      const deps = { addresses, identity, clock, log, terminals: terminals.feeds, terminalMetrics }
      return createCollectors((definition) => collect(definition, deps), log)
    },
    stop: (started) => started.stop(),
    stopTimeoutMs: collectorsStopTimeoutMs,
  })
  await lifecycle.start({
    name: 'terminals',
    start: () => terminals.follow(definitions),
    stop: () => terminals.close(),
    stopTimeoutMs: terminalsStopTimeoutMs,
  })
  await lifecycle.start({ name: 'ready', start: () => health.listening(), stop: () => health.drain() })
  collectors.follow(definitions)
  const change = async (): Promise<void> => {
    const changed = await apply()
    collectors.follow(changed)
    await terminals.follow(changed)
  }
  return {
    httpPort,
    grpcPort,
    opsPort: health.port,
    get terminalPort() {
      return terminals.port
    },
    firstKey,
    feeds: () => {
      const view = registry.view()
      const symbolsOf = ({ key }: FeedDefinition) => view.symbolsOf(key).map(({ symbol }) => symbol)
      return view.feeds().map((definition) => ({ definition, symbols: symbolsOf(definition) }))
    },
    backfilled: () => metrics.total('fxd_ingest_bars_total', { lane: 'backfill', outcome: 'accepted' }),
    reload: createReload(feedsPath, change, log),
    stop: () => lifecycle.stop(),
  }
}

/** Starts REST and the stream on one HTTP server; returns its port. */
async function startEdges(context: ProcessContext, runtime: Runtime): Promise<number> {
  const { config, clock } = context
  const reading = await startReading(context, runtime)
  const chartKeys = await startChartKeys(context, config.chartKeys ?? ownChartKeys(config.dataDir, clock))
  const rest = await startRestEdge(context, runtime, reading, chartKeys)
  const stream = await startStreamEdge(context, runtime, reading)
  runtime.health.setCheck(() => stream.notReady())
  const { handler: handle, callerOf } = rest
  return startHttp(context, { handle, callerOf, connectionsMax: runtime.ports.http, stream })
}
