import { createRegistryWriter, type RegistryWriter } from '../ingest/registry-writer.ts'
import { createIngest } from '../ingest/server.ts'
import type { Address, Config } from '../platform/config.ts'
import { Fatal } from '../platform/exit.ts'
import { type FollowedRegistry, followRegistry } from '../platform/follow-registry.ts'
import { type Health, openHealth } from '../platform/health.ts'
import { createLifecycle } from '../platform/lifecycle.ts'
import { formatAddress, listenFailure, reachable } from '../platform/listen.ts'
import { createLog, type Log } from '../platform/log.ts'
import { createMetrics } from '../platform/metrics.ts'
import { systemClock } from '../platform/system-clock.ts'
import { ensureToken } from '../platform/token-file.ts'
import type { Clock } from '../ports/clock.ts'
import type { Stores } from '../ports/stores.ts'
import { collect } from './collect.ts'
import { createCollectors } from './collectors.ts'
import { startEdges } from './edges.ts'
import { applyManifests, demoFeeds } from './feeds.ts'
import { issueFirstKey } from './first-key.ts'
import type { House } from './house.ts'
import { type OpenedStores, openStores } from './stores.ts'
import { untilAvailable } from './until-available.ts'

const ingestGraceMs = 3_000
/** History that was sent and is not yet stored is read again at the next start: no stop waits long for it. */
const collectorsStopTimeoutMs = 2_000
const storesCloseTimeoutMs = 10_000

export interface AllOverrides {
  readonly clock?: Clock
  readonly log?: Log
  /** Ends a start that waits for a store: it then rejects. */
  readonly ending?: AbortSignal
}

export interface RunningAll {
  readonly httpPort: number
  readonly grpcPort: number
  readonly opsPort: number
  /** A key for the demo feeds, made at the very first start only and kept nowhere. */
  readonly firstKey: string | undefined
  /** How many bars of history the collectors have stored since the start. */
  backfilled(): Promise<number>
  /** Reads the manifests again; when they are invalid it says so in the log and the old ones stay. */
  reload(): Promise<void>
  /** Ends everything within seconds: sockets with 1012, requests under way finish. */
  stop(): Promise<void>
}

/**
 * The whole service in one process. Resolves once it is ready; what its collectors bring comes behind.
 * Rejects with `Fatal` when manifests are invalid, an address is busy or the data folder cannot be used,
 * with everything stopped again. While a store elsewhere is away it waits, not ready, and REST answers 500.
 */
export async function startAll(config: Config, overrides: AllOverrides = {}): Promise<RunningAll> {
  const clock = overrides.clock ?? systemClock
  const log = overrides.log ?? createLog(config.logLevel)
  const metrics = createMetrics({ ofProcess: overrides.clock === undefined })
  const lifecycle = createLifecycle(clock, log)
  const house: House = { config, clock, log, metrics, lifecycle }
  try {
    return await startParts(house, overrides.ending)
  } catch (cause) {
    await lifecycle.stop()
    throw cause
  }
}

async function startParts(house: House, ending?: AbortSignal): Promise<RunningAll> {
  const { config, clock, log, metrics, lifecycle } = house
  let isLoaded = (): boolean => false
  const health = await startHealth(house, () => isLoaded())
  const { stores, areRemote, connect } = await startStores(house)
  const registry = await startRegistry(house, stores)
  isLoaded = () => registry.loaded
  const waiting = { clock, log, ending }
  // A store elsewhere may be away for long, and an answer that says so is better than none.
  const earlyHttpPort = areRemote ? await startEdges(house, stores, registry) : undefined
  await untilAvailable(connect, waiting)
  await untilAvailable(() => registry.refresh(), waiting)
  const isFirstStart = registry.view().version === 0
  const writer = createRegistryWriter(stores.registry, registry, stores.bus)
  const feedsPath = config.feeds ?? demoFeeds
  const definitions = await untilAvailable(() => applyManifests(feedsPath, writer), waiting)
  const firstKey =
    isFirstStart && config.feeds === undefined
      ? await untilAvailable(() => issueFirstKey(writer, definitions, clock), waiting)
      : undefined

  const token = ensureToken(config, clock)
  const grpcPort = await startIngest(house, { stores, registry, writer, token })
  const httpPort = earlyHttpPort ?? (await startEdges(house, stores, registry))
  const collectors = await lifecycle.start({
    name: 'collectors',
    start: () => {
      const address = formatAddress({ ...reachable(config.grpcAddr), port: grpcPort })
      return createCollectors(
        (definition) => collect(definition, { address, identity: () => ({ token }), clock, log }),
        log,
      )
    },
    stop: (running) => running.stop(),
    stopTimeoutMs: collectorsStopTimeoutMs,
  })
  await lifecycle.start({ name: 'ready', start: () => health.listening(), stop: () => health.drain() })
  collectors.follow(definitions)

  const reload = async (): Promise<void> => {
    try {
      collectors.follow(await applyManifests(feedsPath, writer))
      log.info({ feeds: feedsPath }, 'the Feed manifests were read again')
    } catch (cause) {
      const reason = cause instanceof Fatal ? cause.message : cause
      log.error({ err: reason }, 'the Feed manifests were not applied; the old ones stay')
    }
  }
  let reloading: Promise<void> = Promise.resolve()
  return {
    httpPort,
    grpcPort,
    opsPort: health.port,
    firstKey,
    backfilled: () => metrics.total('fxd_ingest_bars_total', { lane: 'backfill', outcome: 'accepted' }),
    reload() {
      // One after another, so that the files as they were last are what stays.
      reloading = reloading.then(reload)
      return reloading
    },
    stop: () => lifecycle.stop(),
  }
}

const startHealth = ({ config, clock, metrics, lifecycle }: House, loaded: () => boolean): Promise<Health> =>
  lifecycle.start({
    name: 'health',
    start: () => openHealth({ address: config.opsAddr, loaded, metrics }, clock),
    stop: (health) => health.close(),
  })

const startStores = (house: House): Promise<OpenedStores> =>
  house.lifecycle.start({
    name: 'stores',
    start: () => openStores(house),
    stop: ({ stores }) => stores.close(),
    stopTimeoutMs: storesCloseTimeoutMs,
  })

const startRegistry = ({ clock, log, lifecycle }: House, stores: Stores): Promise<FollowedRegistry> =>
  lifecycle.start({
    name: 'registry',
    start: () => followRegistry(stores.registry, stores.bus, clock, log),
    stop: (registry) => registry.close(),
  })

interface IngestParts {
  readonly stores: Stores
  readonly registry: FollowedRegistry
  readonly writer: RegistryWriter
  readonly token: string
}

function startIngest({ config, lifecycle, ...shared }: House, parts: IngestParts): Promise<number> {
  const ingest = createIngest({ ...shared, ...parts })
  return lifecycle.start({
    name: 'ingest',
    start: () => ingest.listen(config.grpcAddr.host, config.grpcAddr.port).catch(busy(config.grpcAddr)),
    stop: () => ingest.close(ingestGraceMs),
    stopTimeoutMs: 2 * ingestGraceMs,
  })
}

const busy =
  (address: Address) =>
  (cause: unknown): never => {
    throw listenFailure(address, 'FXD_GRPC_ADDR', cause)
  }
