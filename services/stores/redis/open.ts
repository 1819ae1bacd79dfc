import type { KnownIdentity } from '../../ports/store-identity.ts'
import type { Stores } from '../../ports/stores.ts'
import { redisBus } from './bus/bus.ts'
import { redisFeedBoard } from './feed-board.ts'
import { redisIdentity } from './identity.ts'
import { Keys } from './keys.ts'
import { redisLeases } from './leases.ts'
import { redisLimits } from './limits/limits.ts'
import { Pods } from './limits/pods.ts'
import { redisSlots } from './limits/slots.ts'
import { Calls, serverRun } from './link/calls.ts'
import { Connection } from './link/connection.ts'
import { serverJudge } from './link/server-facts.ts'
import { MemoryGauges } from './memory.ts'
import type { RedisStoreOptions } from './options.ts'
import { scripts } from './scripts.ts'

/** Deadline of a call; afterwards the share decides. A request has two seconds for everything. */
const callDeadlineMs = 1_000

/** The state that all pods share. Its loss does no lasting harm. */
export type RedisStores = Pick<Stores, 'limits' | 'slots' | 'bus' | 'leases' | 'board' | 'close'>

export interface PreparedRedis {
  /** While Redis is unavailable the limits decide by share; the other ports fail as `Unavailable`. */
  readonly stores: RedisStores
  readonly identity: KnownIdentity
  /**
   * Resolves once Redis answers. Rejects with `WrongServer` when Redis is too old or may evict keys, and with
   * `Unavailable` when a retry may succeed.
   */
  readonly connect: () => Promise<void>
}

/** Begins to connect immediately and reconnects until it is closed. */
export function prepareRedisStores(options: RedisStoreOptions): PreparedRedis {
  const { at, prefix, clock, time, log, metrics } = options
  const keys = new Keys(prefix)
  /** The first argument of each script: empty where Redis's own clock decides. */
  const givenTime = (): string => (time === undefined ? '' : String(time.utcMs()))
  const shared = { at, clock, log, judge: serverJudge(log, metrics) }
  const connections = {
    decisions: new Connection('decisions', shared),
    calls: new Connection('calls', shared),
    follow: new Connection('follow', shared),
  }
  const unknown = metrics.counter(
    'fxd_redis_unknown_outcomes_total',
    'Calls to Redis whose reply was lost; they are not retried.',
    ['connection'],
  )
  metrics.gauge('fxd_redis_up', '1 while Redis answers.', ['connection'], (gauge) => {
    for (const [connection, { ready }] of Object.entries(connections))
      gauge.set({ connection }, Number(ready !== undefined))
  })
  const callsOn = (connection: 'decisions' | 'calls'): Calls =>
    new Calls(connections[connection], {
      clock,
      log,
      deadlineMs: callDeadlineMs,
      onUnknown: (count) => unknown.inc({ connection }, count),
    })
  const decisions = callsOn('decisions')
  const calls = callsOn('calls')
  const pods = new Pods({ ...options, connection: connections.decisions, calls: decisions, keys, givenTime })
  metrics.gauge('fxd_limits_pods', 'Pods that share the limits while Redis is unavailable.', [], (gauge) =>
    gauge.set(pods.count),
  )
  const beginLife = (): Promise<unknown> =>
    calls.script(scripts.beginLife, [keys.slotsLife], [givenTime(), serverRun])
  // This runs as soon as a connection is ready, so that the time in which shards take their slots again begins then.
  connections.calls.onReady(() => void beginLife().catch(() => undefined))
  const memory = new MemoryGauges({ calls, clock, log, metrics })
  connections.calls.onReady(() => void memory.read())
  const limitsDeps = {
    connection: connections.decisions,
    calls: decisions,
    keys,
    givenTime,
    pods,
    log,
    metrics,
  }

  return {
    stores: {
      limits: redisLimits(limitsDeps),
      slots: redisSlots(calls, keys, givenTime),
      bus: redisBus({ connection: connections.follow, calls, keys, givenTime, clock, log, metrics }),
      leases: redisLeases(calls, keys, givenTime),
      board: redisFeedBoard(calls, keys),
      async close() {
        memory.close()
        await pods.close()
        for (const connection of Object.values(connections)) connection.close()
      },
    },
    identity: redisIdentity(calls, keys, log),
    async connect() {
      await Promise.all(Object.values(connections).map((connection) => connection.connected()))
      await beginLife()
    },
  }
}
