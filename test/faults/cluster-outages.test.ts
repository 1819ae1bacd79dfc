import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'
import { ClusterHouse, cap, within } from './cluster-house.ts'
import type { Feeder } from './feeder.ts'
import type { Batch } from './market.ts'
import { flows } from './quiet.ts'
import { seeded } from './seeded.ts'

const isLong = effort > 1
const minuteMs = 500
/** Of Redis and QuestDB: a minute in `make soak`. */
const awayMs = isLong ? 60_000 : 8_000
const testMs = 400_000
/** Of a slot. */
const slotLeaseMs = 60_000
const overTheCap = 4_002
/** A lost lease is another's after eleven seconds. */
const takeoverMs = 60_000
/** Bars of all symbols fit into one message. */
const minutesAtOnce = 20
const rounds = isLong ? 3 : 1
/** Longer than from one renewal of a lease to the next. */
const renewalBatches = Math.ceil(6_000 / minuteMs)
const { random, seed } = seeded()
const hint = `FXD_TEST_SEED=${seed}`

let house: ClusterHouse
let proxy: TcpProxy
beforeAll(async () => {
  house = await ClusterHouse.start({
    random,
    minuteMs,
    cluster: {
      around: {
        redis: async (server) => {
          proxy = await openTcpProxy(server)
          return server.url
        },
      },
      podEnv: (name): Record<string, string> =>
        name === 'ingest-1' ? { FXD_REDIS: `redis://${proxy.host}:${proxy.port}` } : {},
    },
  })
  console.log(hint)
}, testMs)
afterAll(async () => {
  await house?.end()
  await proxy?.close()
}, testMs)

/** Sockets so far, of all clients: one more tells that one has ended. */
const socketsOf = (): number =>
  [...house.clients, ...house.capped].reduce((sum, { lives }) => sum + lives.length, 0)

/** Harms for a while, mends and waits until all is well again. */
async function outage(
  harm: () => Promise<unknown> | void,
  during: () => Promise<void>,
  mend: () => Promise<unknown> | void,
): Promise<void> {
  const fromMs = Date.now()
  await harm()
  await Promise.all([pause(awayMs), during()])
  await mend()
  house.outages.push({ fromMs, untilMs: Date.now() })
  // A lease that ran out meanwhile ends the session at its next renewal; the next one has to lead.
  await flows([house.live], renewalBatches)
}
const acksGoOn = (): Promise<void> => flows([house.live], 5)

test(
  'Redis that loses everything takes no open socket and no key with it',
  async () => {
    const before = socketsOf()
    for (let i = 0; i < 3; i++) {
      const fromMs = Date.now()
      await house.cluster.redis.command('FLUSHALL')
      await flows([house.live], 5)
      house.outages.push({ fromMs, untilMs: Date.now() })
    }
    expect(socketsOf(), hint).toBe(before)
  },
  testMs,
)

test(
  'while Redis stands still ingest stores and acknowledges, and open sockets get what they missed in order, or are told',
  async () => {
    const [before, named] = [socketsOf(), house.named]
    const { redis } = house.cluster
    await outage(
      () => redis.freeze(),
      acksGoOn,
      () => redis.thaw(),
    )
    expect(socketsOf(), hint).toBe(before)
    // A refill has five seconds: a busy machine names what a quiet one sends. The judge knows both.
    console.log(`${house.named - named} gaps were named after Redis stood still`)
  },
  testMs,
)

test(
  'the same with a Redis that was killed and comes back empty',
  async () => {
    const before = socketsOf()
    const { redis } = house.cluster
    await outage(
      () => redis.kill(),
      acksGoOn,
      () => redis.start(),
    )
    expect(socketsOf(), hint).toBe(before)
  },
  testMs,
)

test(
  'a shard that stood still for longer than its slots last gives up what others took, and catches up',
  async () => {
    await house.recovered()
    expect(house.cappedOpenMost(), hint).toBeLessThanOrEqual(cap)
    const closed = (): number => house.capped.reduce((sum, { ends }) => sum + (ends.get(overTheCap) ?? 0), 0)
    const openNow = (): number => house.capped.filter(({ isOpen }) => isOpen).length
    const { program } = house.cluster.pod('stream-1')
    const before = closed()
    program.freeze()
    // Newcomers take the slots that ran out.
    const begun = performance.now()
    await within(slotLeaseMs + takeoverMs, 'the slots to run out', () => {
      return openNow() > cap || performance.now() - begun > slotLeaseMs + 15_000
    })
    const over = openNow() - cap
    program.thaw()
    await within(30_000, 'the sockets over the cap to be closed', () => closed() - before >= over)
    expect(openNow(), hint).toBeLessThanOrEqual(cap)
    await house.recovered()
    house.cappedOpenMost()
    await flows([house.live], 5)
    console.log(`${over} sockets were over the cap, ${closed() - before} were closed for it`)
  },
  testMs,
)

test(
  'two ingests that both believe to lead a feed store what they are sent, and sockets get all of it',
  async () => {
    const { cluster, live } = house
    const through = (port: number) => ({ ...live.ingest, grpc: `127.0.0.1:${port}` })
    live.move(through(cluster.pod('ingest-1').port))
    await flows([live], 5)
    for (let round = 0; round < rounds; round++) {
      const acked = await fight(live, cluster.pod('ingest-2').port)
      expect(acked, hint).toBeGreaterThan(0)
      console.log(`the second collector had ${acked} batches acked`)
    }
    live.move(through(cluster.grpcPort))
    await flows([live], 5)
  },
  testMs,
)

/** The way of the first's ingest to Redis is cut for longer than a lease; gives what the second had acked. */
async function fight(live: Feeder, otherPort: number): Promise<number> {
  const { market } = house
  let cursor = 0
  const next = (): Batch => {
    const first = Math.min(cursor, market.minutes - 1)
    cursor = Math.min(first + minutesAtOnce, market.minutes)
    return market.readAgain(first, cursor - first)
  }
  // The same terminal, read by another collector.
  const second = house.feeder(
    { mode: 'LIVE', id: 'second', standsBy: true, depth: 1, next, onAck: () => pause(minuteMs) },
    otherPort,
  )
  second.start()
  const { broken } = live
  cursor = market.minutes - 5
  proxy.set({ up: { kind: 'swallow' }, down: { kind: 'swallow' } })
  await within(takeoverMs, 'the second to lead', () => second.ackedBatches > 0)
  await flows([live, second], 3)
  proxy.set({})
  proxy.reset()
  await within(takeoverMs, 'the first to be told', () => live.broken > broken)
  await within(takeoverMs, 'the second to have read all', () => cursor === market.minutes)
  await flows([second], 2)
  await Promise.all([second.stop(), flows([live], 2)])
  return second.ackedBatches
}

test(
  'QuestDB that is away loses nothing, and the sockets stay',
  async () => {
    const before = socketsOf()
    const { questdb } = house.cluster
    await outage(
      () => questdb.kill(),
      async () => undefined,
      () => questdb.start(),
    )
    expect(socketsOf(), hint).toBe(before)
  },
  testMs,
)

test(
  'in the end the promises hold',
  async () => {
    expect(await house.judge(), hint).toEqual([])
    console.log(house.told())
    expect(house.capped.filter(({ isOpen }) => isOpen)).toHaveLength(cap)
  },
  testMs,
)
