import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { StreamDeps } from './deps.ts'
import { Draining } from './draining.ts'
import { Subscriptions } from './fan-out/subscriptions.ts'
import { createOnFault, type OnFault } from './faults.ts'
import { Hub } from './hub.ts'
import { createStreamMetrics } from './metrics.ts'
import { Sessions } from './sockets/sessions.ts'
import { UpgradeHandler } from './upgrade/upgrade-handler.ts'

export const streamPath = '/v1/stream'

interface StreamLoad {
  readonly connections: number
  readonly connectionsMax: number
  readonly subscriptions: number
  readonly backlogBytes: number
  /** Sockets that drains closed around the end of a minute. */
  readonly forcedCloses: number
}

export interface Stream {
  /** Handles an HTTP upgrade request of `streamPath`; never throws. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  load(): StreamLoad
  /** The reason why new clients should use another shard: `draining`, or `full`. */
  notReady(): string | undefined
  /** Closes a few sockets at a time while the process continues. */
  readonly draining: Pick<Draining, 'isOn' | 'leftMs' | 'start' | 'startForEnd' | 'cancel'>
  /** Refuses new clients and closes every socket with 1012; resolves within seconds, when all are gone. */
  drain(): Promise<void>
  readonly onFault: OnFault
  /** Cuts all open sockets. Must be the last call. */
  close(): void
}

/** The WebSocket edge, fed by the bus. */
export function createStream(deps: StreamDeps): Stream {
  const subscriptions = new Subscriptions()
  const metrics = createStreamMetrics(deps.metrics, {
    connections: () => hub.sockets.count,
    draining: () => draining.isOn,
    subscriptions: () => subscriptions.symbols.subscriptions,
    backlogBytes: () => hub.sockets.backlogBytes,
    replays: () => hub.replays,
  })
  const draining: Draining = new Draining(
    deps.clock,
    {
      get open() {
        return hub.sockets.count
      },
      close: (count) => hub.sockets.closeFirst(count),
    },
    (count) => metrics.forcedCloses.inc(count),
  )
  const sessions = new Sessions({ ...deps, metrics })
  const onFault = createOnFault(deps.log, metrics)
  const shared = { ...deps, sessions, metrics, onFault }
  const hub = new Hub({ ...shared, subscriptions, onLeave: () => draining.left() })
  const upgradeHandler = new UpgradeHandler({ ...shared, hub, isDraining: () => draining.refusesNewcomers })
  return {
    upgrade: upgradeHandler.upgrade,
    onFault,
    load: () => ({
      connections: hub.sockets.count,
      connectionsMax: deps.connectionsMax,
      subscriptions: subscriptions.symbols.subscriptions,
      backlogBytes: hub.sockets.backlogBytes,
      forcedCloses: draining.forced,
    }),
    notReady() {
      if (draining.isOn) return 'draining'
      return upgradeHandler.isFull ? `full: it holds ${deps.connectionsMax} sockets` : undefined
    },
    draining,
    drain() {
      upgradeHandler.refuseAll()
      return hub.sockets.drain()
    },
    close() {
      draining.stop()
      upgradeHandler.close()
      hub.close()
      sessions.stop()
    },
  }
}
