import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTcpProxy, type TcpProxy, type Toxic } from '../../support/clients/tcp-proxy.ts'
import { effort } from '../../support/effort.ts'
import { ClusterFixture } from '../support/cluster-fixture.ts'
import { cap } from '../support/cluster-people.ts'
import type { Feeder } from '../support/feeder.ts'
import type { Batch } from '../support/market.ts'
import { flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'
import { within } from '../support/within.ts'

const isLong = effort > 1
const minuteMs = 500
/** Of Redis and QuestDB: a minute in `make soak`; always longer than a lease of ten seconds. */
const awayMs = isLong ? 60_000 : 12_000
const testMs = 400_000
/** Of a slot, renewed every twenty seconds: a minute's outage outlasts it. */
const slotLeaseMs = 60_000
const overTheCap = 4_002
/** A lost lease is another's after eleven seconds. */
const takeoverMs = 60_000
/** Bars of all symbols fit into one message. */
const minutesAtOnce = 20
const rounds = isLong ? 3 : 1
/** Longer than from one renewal of a lease to the next. */
const renewalBatches = Math.ceil(6_000 / minuteMs)
/** Longer than a call to Redis is waited for. */
const silentMs = 2_500
const silences = isLong ? 6 : 2
const { random, seed } = seeded()
const hint = `FXD_TEST_SEED=${seed}`
const hintOf = ({ brokenBy }: Feeder): string => `${hint}; the last session ended by ${brokenBy}`

let fixture: ClusterFixture
/** Between all processes and Redis, and between one ingest and Redis. */
let everybodys: TcpProxy
let ones: TcpProxy
beforeAll(async () => {
  fixture = await ClusterFixture.start({
    random,
    minuteMs,
    cluster: {
      around: {
        redis: async (server) => {
          everybodys = await openTcpProxy(server)
          ones = await openTcpProxy(server)
          return `redis://${everybodys.host}:${everybodys.port}`
        },
      },
      podEnv: (name): Record<string, string> =>
        name === 'ingest-1' ? { FXD_REDIS: `redis://${ones.host}:${ones.port}` } : {},
    },
  })
  console.log(hint)
}, testMs)
afterAll(async () => {
  await fixture?.end()
  await Promise.all([everybodys?.close(), ones?.close()])
}, testMs)

interface Fault {
  readonly harm: () => Promise<unknown> | void
  readonly during?: () => Promise<void>
  readonly mend: () => Promise<unknown> | void
}

/** Harms for a while, mends and waits until bars flow again. Gives what it cost the users. */
async function outage({
  harm,
  during,
  mend,
}: Fault): Promise<{ sockets: number; named: number; sessions: number }> {
  const { people, live } = fixture
  const before = {
    sockets: people.sockets,
    named: people.named,
    sessions: live.broken,
  }
  const fromMs = Date.now()
  await harm()
  await Promise.all([pause(awayMs), during?.()])
  await mend()
  fixture.outages.push({ fromMs, untilMs: Date.now() })
  await flows([live], renewalBatches)
  // Redis may be back for ingest and not yet for the shards.
  await fixture.caughtUp()
  await people.recovered()
  return {
    sockets: people.sockets - before.sockets,
    named: people.named - before.named,
    sessions: live.broken - before.sessions,
  }
}
const acksGoOn = (): Promise<void> => flows([fixture.live], 5)
/** Acks, and answers of REST, which admits by shares then. */
async function lifeGoesOn(): Promise<void> {
  const { people } = fixture
  // Two may have been under way.
  const enough = people.served + 3
  await Promise.all([acksGoOn(), within(takeoverMs, 'history to answer', () => people.served >= enough)])
}
/** What a network does beyond falling silent; a connection that is cut has carried so many bytes. */
const toxics = (cutAfterBytes: number): readonly Toxic[] => [
  { kind: 'delay', ms: 20 },
  { kind: 'slice', bytes: 11 },
  { kind: 'cut', afterBytes: cutAfterBytes },
]
const redisCutBytes = 20_000
/**
 * A collector sends four minutes of 11,500 bytes before it waits for the first ack. A connection that is cut
 * before it has carried all four may never bring an ack, and none would if the cut is faster than a commit.
 */
const ingestCutBytes = 60_000
const nothing = { sockets: 0, named: 0, sessions: 0 }

/** Resolves once a Redis that was emptied knows every open socket again. */
const slotsTaken = (): Promise<void> =>
  within(slotLeaseMs, 'the shards to take their slots again', async () => {
    const { people, cluster } = fixture
    const script = `local n = 0; for _, key in ipairs(redis.call('keys', '*:slots')) do n = n + redis.call('zcard', key) end; return n`
    const reply = await cluster.redis.command(`EVAL "${script}" 0`)
    return Number(reply.replace(':', '')) === people.clients.length + people.cappedOpen
  })

test(
  'Redis that loses everything takes no open socket and no key with it, and no bar',
  async () => {
    const { people, live, cluster } = fixture
    const before = [people.sockets, people.named, live.broken]
    for (let i = 0; i < 3; i++) {
      const fromMs = Date.now()
      await cluster.redis.command('FLUSHALL')
      await flows([live], 5)
      fixture.outages.push({ fromMs, untilMs: Date.now() })
    }
    await fixture.caughtUp()
    await slotsTaken()
    expect([people.sockets, people.named, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'while Redis stands still ingest stores and acknowledges, and open sockets lose nothing and get what they missed in order',
  async () => {
    const { redis } = fixture.cluster
    const cost = await outage({ harm: () => redis.freeze(), during: lifeGoesOn, mend: () => redis.thaw() })
    expect(cost, hintOf(fixture.live)).toEqual(nothing)
  },
  testMs,
)

test(
  'the same with a Redis that was killed and comes back empty',
  async () => {
    const { redis } = fixture.cluster
    const cost = await outage({ harm: () => redis.kill(), during: lifeGoesOn, mend: () => redis.start() })
    expect(cost, hintOf(fixture.live)).toEqual(nothing)
  },
  testMs,
)

test(
  'replies of Redis that are lost cost no bar, no socket and no session',
  async () => {
    const { people, live } = fixture
    const before = [people.sockets, people.named, live.broken]
    for (let i = 0; i < silences; i++) {
      const fromMs = Date.now()
      for (const proxy of [everybodys, ones]) proxy.set({ down: { kind: 'swallow' } })
      await Promise.all([pause(silentMs), acksGoOn()])
      for (const proxy of [everybodys, ones]) {
        proxy.set({})
        proxy.reset()
      }
      await flows([live], renewalBatches)
      fixture.outages.push({ fromMs, untilMs: Date.now() })
    }
    await fixture.caughtUp()
    expect([people.sockets, people.named, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'a way to Redis that is slow, in pieces or cut again and again costs no bar, no socket and no session',
  async () => {
    const { people, live } = fixture
    const before = [people.sockets, people.named, live.broken]
    for (const toxic of toxics(redisCutBytes)) {
      const fromMs = Date.now()
      for (const proxy of [everybodys, ones]) proxy.set({ up: toxic, down: toxic })
      await Promise.all([pause(silentMs), acksGoOn()])
      for (const proxy of [everybodys, ones]) proxy.set({})
      fixture.outages.push({ fromMs, untilMs: Date.now() })
    }
    await flows([live], renewalBatches)
    await fixture.caughtUp()
    expect([people.sockets, people.named, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'a way to ingest that is slow, in pieces or cut again and again loses no bar',
  async () => {
    const { live, cluster } = fixture
    const { ingest } = live
    const way = await openTcpProxy({ host: '127.0.0.1', port: cluster.grpcPort })
    try {
      live.move({ ...ingest, grpc: `${way.host}:${way.port}` })
      await flows([live], 1)
      const { broken } = live
      for (const toxic of toxics(ingestCutBytes)) {
        way.set({ up: toxic, down: toxic })
        await flows([live], 3)
      }
      await within(takeoverMs, 'the way to be cut', () => live.broken > broken)
      way.set({})
    } finally {
      live.move(ingest)
      await way.close()
    }
    await flows([live], 1)
    await expect(fixture.caughtUp()).resolves.toBeUndefined()
  },
  testMs,
)

test(
  'a shard that stands still for longer than its slots last gives up what others took, and two ingests that both believe to lead a feed meanwhile store what they are sent',
  async () => {
    const { people, cluster, live } = fixture
    await people.recovered()
    expect(people.cappedOpenMost(), hint).toBeLessThanOrEqual(cap)
    const closed = (): number => people.ended(overTheCap)
    const { program } = cluster.pod(people.busiestShard())
    const before = closed()
    await program.freeze()
    await quarrel()
    // Newcomers take the slots that ran out.
    await within(slotLeaseMs + takeoverMs, 'the slots to run out', () => people.cappedOpen > cap)
    // Others may come until it goes on; all that it holds is over the cap then.
    program.thaw()
    await within(takeoverMs, 'a socket over the cap to be closed', () => closed() > before)
    await within(takeoverMs, 'the cap to hold', () => people.cappedOpen <= cap)
    await people.recovered()
    people.cappedOpenMost()
    await flows([live], 5)
    console.log(`${closed() - before} sockets were over the cap and closed`)
  },
  testMs,
)

/** Two collectors of one feed, each with an ingest that is sure to lead. */
async function quarrel(): Promise<void> {
  const { cluster, live } = fixture
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
}

/** The way of the first's ingest to Redis is cut for longer than a lease; gives what the second had acked. */
async function fight(live: Feeder, otherPort: number): Promise<number> {
  const { market } = fixture
  let cursor = 0
  const next = (): Batch => {
    const first = Math.min(cursor, market.minutes - 1)
    cursor = Math.min(first + minutesAtOnce, market.minutes)
    return market.readAgain(first, cursor - first)
  }
  // The same terminal, read by another collector.
  const second = fixture.feeder(
    { mode: 'LIVE', id: 'second', standsBy: true, depth: 1, next, onAck: () => pause(minuteMs) },
    otherPort,
  )
  second.start()
  const { broken } = live
  cursor = market.minutes - 5
  ones.set({ up: { kind: 'swallow' }, down: { kind: 'swallow' } })
  await within(takeoverMs, 'the second to lead', () => second.ackedBatches > 0)
  await flows([live, second], 3)
  ones.set({})
  ones.reset()
  await within(takeoverMs, 'the first to be told', () => live.broken > broken)
  await within(takeoverMs, 'the second to have read all', () => cursor === market.minutes)
  await flows([second], 2)
  await Promise.all([second.stop(), flows([live], 2)])
  return second.ackedBatches
}

test(
  'QuestDB that is away loses nothing, and the sockets stay',
  async () => {
    const { questdb } = fixture.cluster
    const { sockets } = await outage({ harm: () => questdb.kill(), mend: () => questdb.start() })
    expect(sockets, hint).toBe(0)
  },
  testMs,
)

test(
  'in the end the promises hold',
  async () => {
    expect(await fixture.judge(), hint).toEqual([])
    console.log(fixture.told())
    expect(fixture.people.cappedOpen).toBe(cap)
  },
  testMs,
)
