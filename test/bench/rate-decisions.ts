/**
 * Measures rate decisions over a real Redis. Compares the limits of a pod with a command per window and counter (INCR
 * and EXPIRE, each awaited) and with a plain PING of the same client. They alternate at several concurrencies.
 * Run: bin/node test/bench/rate-decisions.ts [milliseconds of each turn = 400 [turns = 5]]
 */
import { Redis } from 'ioredis'
import { silentLog } from '../../services/platform/log/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import type { Limits } from '../../services/ports/limits.ts'
import { prepareRedisStores } from '../../services/stores/redis/open.ts'
import { connected } from '../support/connected.ts'
import { startRedis } from '../support/redis/server.ts'
import { count, machine, printTable, quantile } from './support/figures.ts'

const [turnMs = 400, turns = 5] = process.argv.slice(2).map(Number)
const facts = machine()
const inFlight = [1, 100, 1_000]
const keys = Array.from({ length: 20 }, (_, i) => `key${i}`)
const limits = { rpm: 1_000_000_000, rpd: 1_000_000_000 }
/** Keys for the measurement of memory. */
const manyKeys = 10_000
const minuteSeconds = 60
const daySeconds = 86_400

interface Way {
  readonly name: string
  readonly decide: (keyId: string) => Promise<unknown>
}

/** Simple solution with two windows and two counters. It is not exact: it counts rejected requests. */
async function usual(redis: Redis, keyId: string): Promise<boolean> {
  const now = Date.now() / 1_000
  const minute = `u:${keyId}:${Math.floor(now / minuteSeconds)}`
  const day = `u:${keyId}:${Math.floor(now / daySeconds)}`
  const usedMinute = await redis.incr(minute)
  if (usedMinute === 1) await redis.expire(minute, 2 * minuteSeconds)
  const usedDay = await redis.incr(day)
  if (usedDay === 1) await redis.expire(day, 2 * daySeconds)
  await redis.hincrby(`${day}:use`, 'requests', 1)
  await redis.hincrby(`${day}:use`, 'history', 1)
  return usedMinute <= limits.rpm && usedDay <= limits.rpd
}

async function ours(port: Limits, keyId: string): Promise<void> {
  const { outcome } = await port.admit(keyId, limits, 'history')
  if (outcome === 'refused') throw new Error(`${keyId} was refused`)
}

interface Turn {
  readonly decisions: number
  readonly tookMs: number
  readonly cpuMs: number
  readonly latencies: readonly number[]
}

/** Runs callers that each decide again after an answer, like the requests of one pod. */
async function turn({ decide }: Way, callers: number): Promise<Turn> {
  const latencies: number[] = []
  const begun = performance.now()
  const before = process.cpuUsage()
  const caller = async (_: unknown, i: number): Promise<void> => {
    const keyId = keys[i % keys.length] as string
    for (let asked = performance.now(); asked - begun < turnMs; ) {
      await decide(keyId)
      const answered = performance.now()
      latencies.push(answered - asked)
      asked = answered
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  const { user, system } = process.cpuUsage(before)
  const tookMs = performance.now() - begun
  return { decisions: latencies.length, tookMs, cpuMs: (user + system) / 1_000, latencies }
}

const server = await startRedis()
try {
  const metrics = createMetrics({ ofProcess: false })
  const stores = await connected(
    prepareRedisStores({
      at: { url: server.url, sentinels: [], master: '' },
      prefix: 'fxd:',
      admits: true,
      pods: 1,
      clock: systemClock,
      log: silentLog,
      metrics,
    }),
  )
  const redis = new Redis(server.url)
  const ways: readonly Way[] = [
    { name: 'fxd: one script', decide: (keyId) => ours(stores.limits, keyId) },
    { name: 'a command per window and counter', decide: (keyId) => usual(redis, keyId) },
    { name: 'bare PING', decide: () => redis.ping() },
  ]
  const rows: string[][] = []
  for (const callers of inFlight) {
    const measured = ways.map((): Turn[] => [])
    for (const way of ways) await turn(way, callers)
    for (let i = 0; i < turns; i++)
      for (const [at, way] of ways.entries()) measured[at]?.push(await turn(way, callers))
    const figures = measured.map((all) => {
      const sum = (of: (each: Turn) => number): number => all.reduce((total, each) => total + of(each), 0)
      const decisions = sum((each) => each.decisions)
      const latencies = all.flatMap((each) => each.latencies)
      return {
        perSecond: (decisions / sum((each) => each.tookMs)) * 1_000,
        cpuUs: (sum((each) => each.cpuMs) / decisions) * 1_000,
        p50: quantile(latencies, 0.5),
        p95: quantile(latencies, 0.95),
      }
    })
    for (const [at, { perSecond, cpuUs, p50, p95 }] of figures.entries()) {
      const first = figures[0]?.perSecond ?? Number.NaN
      rows.push([
        `${callers} in flight, ${ways[at]?.name}`,
        `${count(perSecond)} /s`,
        (first / perSecond).toFixed(2),
        `${cpuUs.toFixed(0)} µs`,
        `${p50.toFixed(2)} ms`,
        `${p95.toFixed(2)} ms`,
      ])
    }
  }
  const lost = await metrics.total('fxd_redis_unknown_outcomes_total', {})
  console.log(`${facts}; ${turns} turns of ${turnMs} ms each; ${lost} decisions were taken by share`)
  printTable(['rate decisions', 'decisions', 'fxd is times as fast', 'CPU of each', 'p50', 'p95'], rows)
  const memory = async (): Promise<number> =>
    Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1])
  const before = await memory()
  const many = Array.from({ length: manyKeys }, (_, i) => `many${i}`)
  for (const keyId of many) await ours(stores.limits, keyId)
  const bytes = ((await memory()) - before) / manyKeys
  console.log(`memory of Redis for each key with a request on this day: ${bytes.toFixed(0)} bytes`)
  redis.disconnect()
  await stores.close()
} finally {
  await server.stop()
}
