import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTcpProxy, type TcpProxy, type Toxic } from '../../support/clients/tcp-proxy.ts'
import { effort } from '../../support/effort.ts'
import { ClusterFixture } from '../support/cluster-fixture.ts'
import { cap } from '../support/cluster-users.ts'
import type { Feeder } from '../support/feeder.ts'
import { flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'
import { splitBrain } from '../support/split-brain.ts'
import { within } from '../support/within.ts'

const isLong = effort > 1
const minuteMs = 500
/** Duration of an outage of Redis or QuestDB; longer than a lease of ten seconds. */
const outageMs = isLong ? 60_000 : 12_000
const testMs = 400_000
/** Lease of a slot, renewed every 20 s; an outage of a minute outlasts it. */
const slotLeaseMs = 60_000
const overTheCap = 4_002
/** Deadline of takeovers; another ingest takes a lost lease after 11 s. */
const takeoverMs = 60_000
const rounds = isLong ? 3 : 1
/** Number of batches that together take longer than the renewal period of a lease. */
const renewalBatches = Math.ceil(6_000 / minuteMs)
/** Duration of a silent connection; longer than the timeout of a call to Redis. */
const silentMs = 2_500
const silences = isLong ? 6 : 2
const { random, seed } = seeded()
const hint = `FXD_TEST_SEED=${seed}`
const hintOf = ({ brokenBy }: Feeder): string => `${hint}; the last session ended by ${brokenBy}`

let fixture: ClusterFixture
/** Proxies to Redis: `sharedProxy` of all processes but ingest-1, `ingestProxy` of ingest-1. */
let sharedProxy: TcpProxy
let ingestProxy: TcpProxy
beforeAll(async () => {
  fixture = await ClusterFixture.start({
    random,
    minuteMs,
    cluster: {
      around: {
        redis: async (server) => {
          sharedProxy = await openTcpProxy(server)
          ingestProxy = await openTcpProxy(server)
          return `redis://${sharedProxy.host}:${sharedProxy.port}`
        },
      },
      podEnv: (name): Record<string, string> =>
        name === 'ingest-1' ? { FXD_REDIS: `redis://${ingestProxy.host}:${ingestProxy.port}` } : {},
    },
  })
  console.log(hint)
}, testMs)
afterAll(async () => {
  await fixture?.end()
  await Promise.all([sharedProxy?.close(), ingestProxy?.close()])
}, testMs)

interface Fault {
  readonly harm: () => Promise<unknown> | void
  readonly during?: () => Promise<void>
  readonly repair: () => Promise<unknown> | void
}

/** Runs a fault, repairs it and waits until bars flow again. Returns what it cost the users. */
async function outage({
  harm,
  during,
  repair,
}: Fault): Promise<{ sockets: number; gapsNamed: number; sessions: number }> {
  const { users, live } = fixture
  const before = {
    sockets: users.sockets,
    gapsNamed: users.gapsNamed,
    sessions: live.broken,
  }
  const fromMs = Date.now()
  await harm()
  await Promise.all([pause(outageMs), during?.()])
  await repair()
  fixture.outages.push({ fromMs, untilMs: Date.now() })
  await flows([live], renewalBatches)
  // The shards may notice the return of Redis later than ingest.
  await fixture.caughtUp()
  await users.recovered()
  return {
    sockets: users.sockets - before.sockets,
    gapsNamed: users.gapsNamed - before.gapsNamed,
    sessions: live.broken - before.sessions,
  }
}
const acksContinue = (): Promise<void> => flows([fixture.live], 5)
/** Resolves once acks continue and REST answers, which admits by shares without Redis. */
async function serviceContinues(): Promise<void> {
  const { users } = fixture
  // Two requests may have been in progress before.
  const enough = users.served + 3
  await Promise.all([acksContinue(), within(takeoverMs, 'history to answer', () => users.served >= enough)])
}
/** Faults of a network other than silence; `cutAfterBytes` is when a connection is cut. */
const toxics = (cutAfterBytes: number): readonly Toxic[] => [
  { kind: 'delay', ms: 20 },
  { kind: 'slice', bytes: 11 },
  { kind: 'cut', afterBytes: cutAfterBytes },
]
const redisCutBytes = 20_000
/**
 * Bytes after which a connection to ingest is cut. A collector sends four minutes of 11,500 bytes before it waits
 * for the first ack. A connection that is cut earlier may never deliver one.
 */
const ingestCutBytes = 60_000
const noCost = { sockets: 0, gapsNamed: 0, sessions: 0 }

/** Resolves once an emptied Redis has the slots of all open sockets again. */
const slotsTaken = (): Promise<void> =>
  within(slotLeaseMs, 'the shards to take their slots again', async () => {
    const { users, cluster } = fixture
    const script = `local n = 0; for _, key in ipairs(redis.call('keys', '*:slots')) do n = n + redis.call('zcard', key) end; return n`
    const reply = await cluster.redis.command(`EVAL "${script}" 0`)
    return Number(reply.replace(':', '')) === users.clients.length + users.cappedOpen
  })

test(
  'a Redis that loses all data costs no open socket, no key and no bar',
  async () => {
    const { users, live, cluster } = fixture
    const before = [users.sockets, users.gapsNamed, live.broken]
    for (let i = 0; i < 3; i++) {
      const fromMs = Date.now()
      await cluster.redis.command('FLUSHALL')
      await flows([live], 5)
      fixture.outages.push({ fromMs, untilMs: Date.now() })
      // A GAP frame names lost bars that the store does not show within 10 s of the next bar.
      await fixture.caughtUp()
    }
    await slotsTaken()
    expect([users.sockets, users.gapsNamed, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'while Redis is frozen ingest stores and acknowledges; afterwards open sockets receive all missed bars in order',
  async () => {
    const { redis } = fixture.cluster
    const cost = await outage({
      harm: () => redis.freeze(),
      during: serviceContinues,
      repair: () => redis.thaw(),
    })
    expect(cost, hintOf(fixture.live)).toEqual(noCost)
  },
  testMs,
)

test(
  'a Redis that is killed and restarts empty costs no bar, no socket and no session',
  async () => {
    const { redis } = fixture.cluster
    const cost = await outage({
      harm: () => redis.kill(),
      during: serviceContinues,
      repair: () => redis.start(),
    })
    expect(cost, hintOf(fixture.live)).toEqual(noCost)
  },
  testMs,
)

test(
  'lost replies of Redis cost no bar, no socket and no session',
  async () => {
    const { users, live } = fixture
    const before = [users.sockets, users.gapsNamed, live.broken]
    for (let i = 0; i < silences; i++) {
      const fromMs = Date.now()
      for (const proxy of [sharedProxy, ingestProxy]) proxy.set({ down: { kind: 'swallow' } })
      await Promise.all([pause(silentMs), acksContinue()])
      for (const proxy of [sharedProxy, ingestProxy]) {
        proxy.set({})
        proxy.reset()
      }
      await flows([live], renewalBatches)
      fixture.outages.push({ fromMs, untilMs: Date.now() })
    }
    await fixture.caughtUp()
    expect([users.sockets, users.gapsNamed, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'a connection to Redis that is slow, sliced or cut repeatedly costs no bar, no socket and no session',
  async () => {
    const { users, live } = fixture
    const before = [users.sockets, users.gapsNamed, live.broken]
    for (const toxic of toxics(redisCutBytes)) {
      const fromMs = Date.now()
      for (const proxy of [sharedProxy, ingestProxy]) proxy.set({ up: toxic, down: toxic })
      await Promise.all([pause(silentMs), acksContinue()])
      for (const proxy of [sharedProxy, ingestProxy]) proxy.set({})
      fixture.outages.push({ fromMs, untilMs: Date.now() })
    }
    await flows([live], renewalBatches)
    await fixture.caughtUp()
    expect([users.sockets, users.gapsNamed, live.broken], hintOf(live)).toEqual(before)
  },
  testMs,
)

test(
  'a connection to ingest that is slow, sliced or cut repeatedly loses no bar',
  async () => {
    const { live, cluster } = fixture
    const { ingest } = live
    const proxy = await openTcpProxy({ host: '127.0.0.1', port: cluster.grpcPort })
    try {
      live.move({ ...ingest, grpc: `${proxy.host}:${proxy.port}` })
      await flows([live], 1)
      const { broken } = live
      for (const toxic of toxics(ingestCutBytes)) {
        proxy.set({ up: toxic, down: toxic })
        await flows([live], 3)
      }
      await within(takeoverMs, 'the connection to be cut', () => live.broken > broken)
      proxy.set({})
    } finally {
      live.move(ingest)
      await proxy.close()
    }
    await flows([live], 1)
    await expect(fixture.caughtUp()).resolves.toBeUndefined()
  },
  testMs,
)

test(
  'a shard frozen longer than its slots closes sockets over the cap; two ingests that both lead a feed store all bars',
  async () => {
    const { users, cluster, live } = fixture
    await users.recovered()
    expect(users.cappedOpenMost(), hint).toBeLessThanOrEqual(cap)
    const closed = (): number => users.closedWith(overTheCap)
    const { program } = cluster.pod(users.busiestShard())
    const before = closed()
    await program.freeze()
    await splitBrain({ fixture, ingestProxy, rounds, minuteMs, takeoverMs, hint })
    // New sockets take the expired slots.
    await within(slotLeaseMs + takeoverMs, 'the slots to expire', () => users.cappedOpen > cap)
    // By now other sockets may have all slots, so every socket of the frozen shard is over the cap.
    program.thaw()
    await within(takeoverMs, 'a socket over the cap to be closed', () => closed() > before)
    await within(takeoverMs, 'the cap to hold', () => users.cappedOpen <= cap)
    await users.recovered()
    users.cappedOpenMost()
    await flows([live], 5)
    console.log(`${closed() - before} sockets were over the cap and closed`)
  },
  testMs,
)

test(
  'an outage of QuestDB loses no bar, and the sockets stay open',
  async () => {
    const { questdb } = fixture.cluster
    const { sockets } = await outage({ harm: () => questdb.kill(), repair: () => questdb.start() })
    expect(sockets, hint).toBe(0)
  },
  testMs,
)

test(
  'after all faults the promises hold',
  async () => {
    expect(await fixture.judge(), hint).toEqual([])
    console.log(fixture.summary())
    expect(fixture.users.cappedOpen).toBe(cap)
  },
  testMs,
)
