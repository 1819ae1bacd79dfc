import { type Health, openHealth } from '../platform/health.ts'
import type { ProcessContext } from '../platform/process-context.ts'
import { untilAvailable, type WaitingDeps } from '../platform/until-available.ts'
import type { Stores } from '../ports/stores.ts'
import { type FollowedRegistry, followRegistry } from '../registry/follow.ts'
import type { StoreUser } from '../stores/questdb/pg/connection-counts.ts'
import { type OpenedStores, openStores, type RoleOverrides } from './stores.ts'

const storesCloseTimeoutMs = 10_000

/** What every role stands on that reads or writes the stores. */
export interface Ground {
  readonly stores: Stores
  readonly registry: FollowedRegistry
  readonly health: Health
  readonly waiting: WaitingDeps
  /** Whether the stores may be away while this process lives. */
  readonly areRemote: boolean
  /** Waits until the stores are fit for use and the registry was loaded once. */
  loaded(): Promise<void>
}

/** Health first, so that a process that waits for its stores can say so. */
export async function layGround(
  context: ProcessContext,
  overrides: RoleOverrides,
  user: StoreUser,
): Promise<Ground> {
  const { config, clock, log, metrics, lifecycle, handles } = context
  const acceptFailed = (cause: Error): void => handles.failed('ops', cause)
  let isLoaded = (): boolean => false
  const health = await lifecycle.start({
    name: 'health',
    start: () =>
      openHealth({ address: config.opsAddr, loaded: () => isLoaded(), metrics, acceptFailed }, clock),
    stop: (started) => started.close(),
  })
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
  const waiting = { clock, log, ending: overrides.ending }
  return {
    stores,
    registry,
    health,
    waiting,
    areRemote,
    async loaded() {
      await untilAvailable(connect, waiting)
      await untilAvailable(() => registry.refresh(), waiting)
    },
  }
}
