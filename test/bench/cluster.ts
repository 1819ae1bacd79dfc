/**
 * Measures the stages of a bar in a cluster, from the collector's send to the sockets of 200 clients. The processes of
 * ingest, rest, two shards, QuestDB, Redis and HAProxy are real. A collector's session and a reader of the bus run in
 * this process. The clients (support/fan-out-client.ts) run in a separate process, each with up to 200 symbols.
 * Run: bin/node test/bench/cluster.ts [minutes of each = 40]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SessionClient } from '../../services/collector/connection/session-client.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import type { Bus } from '../../services/ports/bus.ts'
import { prepareRedisStores } from '../../services/stores/redis/open.ts'
import { type Cluster, startCluster } from '../support/cluster/cluster.ts'
import { connected } from '../support/connected.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { issuerOf } from './minute/subjects.ts'
import { digits, feed, issueBenchKey, keyOf, makeBenchHome, metricOf } from './support/bench-feed.ts'
import type { BurstReport, ClientOrder } from './support/fan-out-client.ts'
import { machine, ms, printTable, quantile } from './support/figures.ts'
import { firstSocket } from './support/first-socket.ts'
import { barMessageBytes, encodeMinute } from './support/whole-minute.ts'

const [minutes = 40] = process.argv.slice(2).map(Number)
const facts = machine()
const warmUps = 5
const sockets = 200
const perSocketMost = 200
const names = Array.from({ length: 2_000 }, (_, n) => `T${String(n).padStart(4, '0')}_CFD.US`)
/** Bars of a minute, and the number of their messages: terminals close their bars one after another. */
const cases = [
  { bars: 1, messages: 1 },
  { bars: 200, messages: 1 },
  { bars: 2_000, messages: 1 },
  { bars: 2_000, messages: 40 },
] as const
/** Timeout of a burst; a missing bar ends the bench. */
const burstDeadlineMs = 30_000

async function collect({ grpcPort, token }: Cluster): Promise<SessionClient> {
  const hello = { feed, collectorId: 'bench', mode: 'SESSION_MODE_LIVE', terminal: 'bench' } as const
  const session = new SessionClient({
    address: `127.0.0.1:${grpcPort}`,
    identity: { token: readFileSync(token, 'utf8').trim() },
    // As with a spool: bars are published without waiting for their write.
    hello: { ...hello, capabilities: ['CAPABILITY_REREADABLE'] },
    clock: systemClock,
  })
  await session.greeting
  const symbols = names.map((raw) => ({ raw, type: 'cfd', digits, session: '24x7' }))
  const { refused } = await session.catalogue(symbols, { snapshot: true })
  if (refused.length > 0) throw new Error(`the catalogue was refused: ${JSON.stringify(refused[0])}`)
  return session
}

/** Measures when a reader of the bus has all bars of a minute, and counts their events. */
class Reading {
  #left = 0
  #events = 0
  #seen: (seen: { at: number; events: number }) => void = () => undefined

  constructor(bus: Bus) {
    bus.follow({
      deliver: ({ event }) => {
        if (event.type !== 'bars') return
        this.#events += 1
        this.#left -= event.bars.length
        if (this.#left === 0) this.#seen({ at: monotonicMs(), events: this.#events })
      },
      lost: () => undefined,
    })
  }

  expect(bars: number): Promise<{ at: number; events: number }> {
    this.#left = bars
    this.#events = 0
    return new Promise((resolve) => void (this.#seen = resolve))
  }
}

/** Milliseconds that the processes of the cluster measured since the last reading. */
class Inside {
  readonly #sums = new Map<string, number>()
  readonly #cluster: Cluster
  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  async look(): Promise<{ push: number; burst: number }> {
    const [pushMs = 0, pushes = 1] = await Promise.all(
      ['sum', 'count'].map((of) => this.#grown('ingest-1', `fxd_ingest_push_seconds_${of}`)),
    )
    const bursts = await Promise.all(
      ['stream-1', 'stream-2'].map((pod) => this.#grown(pod, 'fxd_stream_burst_seconds_sum')),
    )
    return { push: (pushMs / pushes) * 1_000, burst: Math.max(...bursts) * 1_000 }
  }

  async #grown(pod: string, name: string): Promise<number> {
    const { opsPort } = this.#cluster.pod(pod)
    const sum = await metricOf({ target: { ops: `http://127.0.0.1:${opsPort}` } }, name)
    const before = this.#sums.get(pod + name) ?? 0
    this.#sums.set(pod + name, sum)
    return sum - before
  }
}

interface Figures {
  readonly busMs: number
  readonly events: number
  readonly pushMs: number
  readonly burstMs: number
  readonly halfMs: number
  readonly p99Ms: number
  readonly lastMs: number
  readonly ackMs: number
}

const { home, discard } = makeBenchHome([])
let cluster: Cluster | undefined
try {
  cluster = await startCluster({
    rest: 1,
    stream: 2,
    ingest: 1,
    feeds: join(home, 'feeds'),
    questdb: { settings: { QDB_SHARED_WORKER_COUNT: '4' } },
  })
  const key = await issueBenchKey({ target: { issuer: issuerOf(cluster) } })
  const path = `/v1/stream?api_key=${key}`
  const session = await collect(cluster)
  await firstSocket(`ws://127.0.0.1:${cluster.httpPort}${path}`)
  const stores = await connected(
    prepareRedisStores({
      at: { url: cluster.redis.url, sentinels: [], master: '' },
      prefix: 'fxd:',
      admits: false,
      pods: 1,
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics({ ofProcess: false }),
    }),
  )
  const reading = new Reading(stores.bus)
  const inside = new Inside(cluster)

  // Only closed minutes in ascending order are pushed, so the last one is the previous minute.
  let minute = (Math.floor(systemClock.utcMs() / 60_000) - 1 - cases.length * (warmUps + minutes)) * 60
  const rows: string[][] = []
  for (const { bars, messages } of cases) {
    const symbols = names.slice(0, bars)
    const clients = fork(fileURLToPath(new URL('./support/fan-out-client.ts', import.meta.url)))
    process.once('exit', () => clients.kill())
    const perSocket = Math.min(bars, perSocketMost)
    const messageBytes = barMessageBytes(names[0] ?? '')
    const order = { port: cluster.httpPort, path, sockets, perSocket, messageBytes }
    clients.send({ ...order, symbols: symbols.map(keyOf) } satisfies ClientOrder)
    await once(clients, 'message')

    const all: Figures[] = []
    for (let i = 0; i < warmUps + minutes; i++) {
      const series = encodeMinute(symbols, (minute += 60))
      const size = bars / messages
      await inside.look()
      const signal = AbortSignal.timeout(burstDeadlineMs)
      const arrived = once(clients, 'message', { signal }) as Promise<[BurstReport]>
      const onBus = reading.expect(bars)
      const sent = monotonicMs()
      const answers = Array.from({ length: messages }, (_, at) =>
        session.bars('LIVE', series.slice(at * size, (at + 1) * size)),
      )
      const acked = Promise.all(answers).then((answered) => {
        const accepted = answered.reduce((sum, answer) => sum + answer.accepted, 0)
        if (accepted !== bars)
          throw new Error(`${accepted} accepted: ${JSON.stringify(answered[0]?.refused[0])}`)
        return monotonicMs()
      })
      const [[report], seen, ackedAt] = await Promise.all([arrived, onBus, acked])
      // Idle, as between minutes.
      await systemClock.sleep(100)
      const { push, burst } = await inside.look()
      if (i < warmUps) continue
      all.push({
        busMs: seen.at - sent,
        events: seen.events,
        pushMs: push,
        burstMs: burst,
        halfMs: report.p50 - sent,
        p99Ms: report.p99 - sent,
        lastMs: report.last - sent,
        ackMs: ackedAt - sent,
      })
    }
    const at = (field: keyof Figures, q: number): number =>
      quantile(
        all.map((each) => each[field]),
        q,
      )
    const both = (field: keyof Figures): string => `${ms(at(field, 0.5))} / ${ms(at(field, 0.99))}`
    rows.push([
      messages === 1 ? `${bars} in 1 message` : `${bars} in ${messages} messages`,
      both('pushMs'),
      `${both('busMs')} (${at('events', 0.5)})`,
      both('burstMs'),
      both('halfMs'),
      both('lastMs'),
      both('ackMs'),
    ])
    clients.kill()
    await once(clients, 'exit')
  }
  console.log(
    `${facts}; ${minutes} minutes of each, ${sockets} sockets; p50 / p99 over the minutes, from the`,
  )
  console.log(
    'collector’s send on, but for what ingest (receipt to bus) and the slower shard measured themselves',
  )
  printTable(
    [
      'bars a minute',
      'ingest: receipt to bus',
      'all on the bus (events)',
      'shard: bus to last write',
      'half of all at sockets',
      'last bar at its socket',
      'acked',
    ],
    rows,
  )
  await session.close()
  await stores.close()
} finally {
  await cluster?.stop()
  discard()
}
