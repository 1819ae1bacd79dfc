import { createCoverage } from '../bars/coverage.ts'
import { createHistory } from '../bars/history.ts'
import { createTail } from '../bars/tail.ts'
import type { Health } from '../platform/process/health.ts'
import { onlyOps, type PortMaxima, type PortShares, sharePorts } from '../platform/process/port-shares.ts'
import type { ProcessContext } from '../platform/process/process-context.ts'
import { startHealth } from '../platform/process/start-health.ts'
import { untilAvailable, type WaitingDeps } from '../platform/until-available.ts'
import { type FollowedRegistry, followRegistry } from '../registry/follow.ts'
import type { StoreUser } from '../stores/questdb/pg/connection-counts.ts'
import { type OpenedStores, openStores, type RoleOverrides } from './stores.ts'

const storesCloseTimeoutMs = 10_000

/** Parts of every role that reads or writes the stores. */
export interface Runtime extends Pick<OpenedStores, 'stores' | 'areRemote'> {
  readonly registry: FollowedRegistry
  readonly health: Health
  readonly ports: PortShares
  readonly waiting: WaitingDeps
  /** Resolves when the stores are ready and the registry was loaded once. */
  loaded(): Promise<void>
}

/** Starts health first, so that a process can report that it waits for its stores. */
export async function openRuntime(
  context: ProcessContext,
  overrides: RoleOverrides,
  user: StoreUser,
  maxima: Partial<PortMaxima>,
): Promise<Runtime> {
  const { clock, log, metrics, lifecycle } = context
  let isLoaded = (): boolean => false
  const ports = sharePorts({ ...onlyOps, ...maxima }, log)
  const health = await startHealth(context, { loaded: () => isLoaded(), connectionsMax: ports.ops })
  const { stores, areRemote, connect } = await lifecycle.start<OpenedStores>({
    name: 'stores',
    start: () => overrides.stores ?? openStores(context, user),
    stop: (opened) => opened.stores.close(),
    stopTimeoutMs: storesCloseTimeoutMs,
  })
  const registry = await lifecycle.start({
    name: 'registry',
    start: () => followRegistry(stores.registry, stores.bus, clock, log),
    stop: (started) => started.close(),
  })
  isLoaded = () => registry.loaded
  metrics.gauge(
    'fxd_registry_age_seconds',
    'Seconds since a read of the registry succeeded; before the first, since the start. Reads are 2 s apart.',
    [],
    (gauge) => gauge.set(registry.ageMs / 1_000),
  )
  const waiting = { clock, log, ending: overrides.ending }
  return {
    stores,
    registry,
    health,
    ports,
    waiting,
    areRemote,
    async loaded() {
      await untilAvailable(connect, waiting)
      await untilAvailable(() => registry.refresh(), waiting)
    },
  }
}

/** Reads bars: the store, with the tail of the bus over it. */
export interface Reading {
  readonly history: ReturnType<typeof createHistory>
  readonly coverage: ReturnType<typeof createCoverage>
}

export async function startReading(context: ProcessContext, { stores, registry }: Runtime): Promise<Reading> {
  const { clock, log, metrics, lifecycle } = context
  const tail = await lifecycle.start({
    name: 'tail',
    start: () => createTail(stores.bus),
    stop: (started) => started.close(),
  })
  metrics.counter(
    'fxd_tail_dropped_bars_total',
    'Live bars dropped from the tail at its maximum, before the store was known to show them.',
    [],
    (counter) => counter.inc(tail.dropped),
  )
  const shared = { ...stores, registry, clock, log, metrics, tail }
  return { history: createHistory(shared), coverage: createCoverage(shared) }
}
