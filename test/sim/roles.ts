import { admit, RateExceeded } from '../../services/access/admit.ts'
import { createHistory, type History } from '../../services/bars/history.ts'
import { createTail } from '../../services/bars/tail.ts'
import { runCollector } from '../../services/collector/collector.ts'
import { openSpool } from '../../services/collector/spool/spool.ts'
import type { FeedDefinition } from '../../services/core/feeds/feed.ts'
import type { KeyRecord } from '../../services/core/keys/api-key.ts'
import { administration } from '../../services/ingest/credentials/access.ts'
import { FeedStates } from '../../services/ingest/feed/feed-state.ts'
import { WriteDelay } from '../../services/ingest/feed/write-delay.ts'
import { createIngestMetrics } from '../../services/ingest/metrics.ts'
import { OpenSessions } from '../../services/ingest/session/open-sessions.ts'
import { CollectorSession } from '../../services/ingest/session/session.ts'
import { receive } from '../../services/ingest/session/stream/receive.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import type { Stores } from '../../services/ports/stores.ts'
import { followRegistry } from '../../services/registry/follow.ts'
import { createRegistryWriter } from '../../services/registry/writer.ts'
import type { Caller, StreamSocket } from '../../services/stream/connection/connection.ts'
import { Subscriptions } from '../../services/stream/fan-out/subscriptions.ts'
import { Hub } from '../../services/stream/hub.ts'
import { createStreamMetrics } from '../../services/stream/metrics.ts'
import { Sessions } from '../../services/stream/sockets/sessions.ts'
import { spoolBounds } from '../support/fixtures/spool-bounds.ts'
import type { SimSocket } from './client.ts'
import type { SimTerminal } from './market.ts'
import type { SimIngest } from './runtime/link.ts'
import type { SimProcess } from './runtime/timeline.ts'
import type { SimDisk } from './servers/disk.ts'

export type Ports = Omit<Stores, 'close' | 'usageDays'>

export function startIngest(process: SimProcess, stores: Ports): SimIngest {
  const { clock, log } = process
  const metrics = createIngestMetrics(createMetrics({ ofProcess: false }))
  const registry = followRegistry(stores.registry, stores.bus, clock, log)
  registry.refresh().catch(() => undefined)
  const writer = createRegistryWriter(stores.registry, registry, stores.bus)
  const { bus } = stores
  const writeDelay = new WriteDelay(clock, bus)
  const states = new FeedStates(stores, { bus, clock, log, metrics, registry, writer, writeDelay })
  const sessions = new OpenSessions(log, clock)
  const deps = { stores, clock, log, metrics, registry, states, sessions }
  let count = 0
  return {
    process,
    accept: (call) =>
      sessions.add(new CollectorSession(call, `${process.name}-${++count}`, administration, deps)),
    receive,
  }
}

export async function startCollector(
  process: SimProcess,
  options: {
    readonly definition: FeedDefinition
    readonly source: SimTerminal
    readonly disk: SimDisk
    readonly spoolForgets: boolean
    readonly addresses: readonly string[]
    readonly dial: Parameters<typeof runCollector>[0]['dial']
  },
): Promise<void> {
  const { clock, log } = process
  const spool = await openSpool({
    folder: options.disk.of(process, options.spoolForgets),
    clock,
    log,
    ...spoolBounds,
  })
  let turn = 0
  const { definition, source, addresses, dial } = options
  void runCollector({
    definition,
    source,
    address: () => addresses[turn++ % addresses.length] as string,
    identity: () => ({}),
    dial,
    clock,
    log,
    spool,
    signal: new AbortController().signal,
  })
}

/** A rest pod: reads history and admits requests. */
export interface Reader {
  readonly process: SimProcess
  readonly history: History
  /** Resolves with the end of the minute of an admitted request, `undefined` for a refused one. Rejects when unavailable. */
  admit(key: KeyRecord): Promise<number | undefined>
}

export function startReader(process: SimProcess, stores: Ports): Reader {
  const { clock, log } = process
  const registry = followRegistry(stores.registry, stores.bus, clock, log)
  registry.refresh().catch(() => undefined)
  const tail = createTail(stores.bus)
  return {
    process,
    history: createHistory({ ...stores, tail, registry, clock }),
    async admit(key) {
      try {
        return (await admit(stores.limits, key, 'history')).resetMinute
      } catch (cause) {
        if (cause instanceof RateExceeded) return undefined
        throw cause
      }
    },
  }
}

export interface Shard {
  readonly process: SimProcess
  /** Opens the slot and the socket of an authenticated upgrade. Rejects when no slot is free or Redis is unavailable. */
  enter(caller: Caller, socket: SimSocket): Promise<void>
}

export function startShard(
  process: SimProcess,
  stores: Ports,
  around: { history: (history: History) => History },
): Shard {
  const { clock, log } = process
  const registry = followRegistry(stores.registry, stores.bus, clock, log)
  registry.refresh().catch(() => undefined)
  const tail = createTail(stores.bus)
  const history = around.history(createHistory({ ...stores, tail, registry, clock }))
  const subscriptions = new Subscriptions()
  const none = (): number => 0
  const metrics = createStreamMetrics(createMetrics({ ofProcess: false }), {
    connections: none,
    subscriptions: none,
    backlogBytes: none,
    replays: () => ({ waiting: 0, waitingForNextBar: 0 }),
    draining: () => false,
  })
  const sessions = new Sessions({ slots: stores.slots, clock, log, metrics })
  const hub = new Hub({
    ...stores,
    clock,
    log,
    registry,
    history,
    sessions,
    subscriptions,
    metrics,
    onFault: (_, cause) => {
      throw cause
    },
    onLeave: () => undefined,
  })
  return {
    process,
    async enter(caller, socket) {
      if (!registry.loaded) throw new Error('not ready')
      const { outcome } = await sessions.open(
        caller.key.id,
        caller.sessionId,
        caller.key.limits.wsConnections,
      )
      if (outcome === 'full') throw new Error('full')
      hub.enter(caller, socket as unknown as StreamSocket, socket.raw)
    },
  }
}
