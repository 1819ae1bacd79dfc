import { expect, onTestFinished, vi } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { type Log, silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { Clock } from '../../../services/ports/clock.ts'
import type { Slots } from '../../../services/ports/slots.ts'
import type { KnownIdentity } from '../../../services/ports/store-identity.ts'
import {
  type PreparedRedis,
  prepareRedisStores,
  type RedisStores,
} from '../../../services/stores/redis/open.ts'
import type { RedisAt } from '../../../services/stores/redis/options.ts'
import { createVirtualClock, type VirtualClock } from '../fixtures/virtual-clock.ts'

export interface OpenedRedis {
  readonly stores: RedisStores
  readonly identity: KnownIdentity
  /** The sum of a metric over all its series. */
  metric(name: string): Promise<number>
  /** Whether all connections answer. */
  up(): Promise<boolean>
}

let prefixes = 0
/** A prefix of keys that no other test uses. */
export const freshPrefix = (): string => `test${++prefixes}:`

export interface OpenRedisOptions {
  readonly prefix?: string
  readonly time?: Clock
  readonly admits?: boolean
  readonly pods?: number
  readonly log?: Log
}

/** Opens stores that close when the test ends. They use the given clock, or that of Redis. */
export async function openInTest(
  at: { readonly url: string } | RedisAt,
  options?: OpenRedisOptions,
): Promise<OpenedRedis> {
  const opened = prepareInTest(at, options)
  await opened.connect()
  return opened
}

/** The same, without waiting for Redis. */
export function prepareInTest(
  at: { readonly url: string } | RedisAt,
  { prefix = freshPrefix(), time, admits = true, pods = 1, log = silentLog }: OpenRedisOptions = {},
): OpenedRedis & PreparedRedis {
  const metrics = createMetrics({ ofProcess: false })
  const { stores, identity, connect } = prepareRedisStores({
    at: { sentinels: [], master: '', ...at },
    prefix,
    admits,
    pods,
    clock: systemClock,
    ...(time && { time }),
    log,
    metrics,
  })
  onTestFinished(() => stores.close())
  const metric = async (name: string): Promise<number> => {
    const { text } = await metrics.render()
    const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))]
    return values.reduce((sum, [, value]) => sum + Number(value), 0)
  }
  return { stores, identity, connect, metric, up: async () => (await metric('fxd_redis_up')) === 3 }
}

/** Resolves once Redis answers on all connections after an outage. */
export const isBack = (opened: OpenedRedis): Promise<void> =>
  vi.waitFor(async () => expect(await opened.up()).toBe(true), { timeout: 15_000 })

/** The start of a minute, far from the end of the day. */
const startOfTests = Date.UTC(2026, 0, 5, 12)
export const timeOfTests = () => createVirtualClock({ start: startOfTests })

const touchEveryMs = 10_000

/** Advances the clock and renews a slot every 10 s, so that Redis counts as available all the time. */
export async function advanceWithinReach(
  slots: Slots,
  time: Pick<VirtualClock, 'advance'>,
  ms: number,
): Promise<void> {
  for (let left = ms; left > 0; left -= touchEveryMs) {
    await time.advance(Math.min(left, touchEveryMs))
    await slots.renew([{ keyId: 'nobody', sessionId: 'nobody' }])
  }
}

/** A clock that starts at the present time and runs `speed` times as fast. */
export function fastClock(speed: number): Clock {
  const begunMs = systemClock.utcMs()
  return { ...systemClock, utcMs: () => utcMs(begunMs + (systemClock.utcMs() - begunMs) * speed) }
}
