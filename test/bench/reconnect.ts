/**
 * A rollout of all shards of a cluster under many sockets, which return with `since`: when the last replay is finished, and
 * how late live bars come meanwhile, beside calm minutes before. Each minute of the market (2,312 symbols)
 * is sent when it closes. As on Kubernetes, a new shard is in rotation before an old one gets SIGTERM, and drains overlap. They
 * begin so late in a minute that its end falls between the returns. A program in C has the sockets.
 * Run: bin/node test/bench/reconnect.ts [sockets = 5000 [symbols of each = 20 [calm minutes = 3 [rollouts = 2]]]]
 */
import { join } from 'node:path'
import type { SessionClient } from '../../services/collector/connection/session-client.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { type Cluster, questdbOfCluster, startCluster } from '../support/cluster/cluster.ts'
import { inRotation } from '../support/cluster/roll-out.ts'
import { makeMarketHome, marketFeeds, marketSymbols, messagesOf, openSessions } from './minute/market.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { randomSubscriptions } from './minute/socket-reader.ts'
import { issuerOf } from './minute/subjects.ts'
import { type Arrivals, type Report, ReturningSockets } from './reconnect/returning-sockets.ts'
import { issueBenchKey } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile, seconds } from './support/figures.ts'
import { firstSocket } from './support/first-socket.ts'

const [sockets = 5_000, perSocket = 20, calmMinutes = 3, rollouts = 2] = process.argv.slice(2).map(Number)
const keysCount = 10
/** The drains of both shards overlap, so all sockets are closed within about 30 s. */
const drainSeconds = 25
/** Second of a minute at which a rollout begins. */
const rolloutSecond = 42
const warmUps = 5
const minuteMs = 60_000
const completeMsMax = 300_000
const stopMsMax = 90_000
/** Two generations of shards: one of them runs. */
const generations = [
  ['stream-1', 'stream-2'],
  ['stream-3', 'stream-4'],
] as const

interface Minute {
  readonly sent: number
  readonly report: Report
}

/** Sends a minute of the market. Resolves once all sockets are open and have it. */
async function send(
  sessions: readonly SessionClient[],
  clients: ReturningSockets,
  open: number,
): Promise<Minute> {
  const ordered = messagesOf(open, 4)
  await clients.minute(open)
  const sent = monotonicMs()
  const acks = ordered.map(async ([index, series]) => {
    const { accepted, refused } = await (sessions[index] as SessionClient).bars('LIVE', [...series])
    if (accepted !== series.length) throw new Error(`${accepted} accepted: ${JSON.stringify(refused[0])}`)
  })
  await Promise.all(acks)
  return { sent, report: await clients.complete(completeMsMax) }
}

/** Waits for this second of a minute. */
async function untilSecond(second: number): Promise<void> {
  const late = (systemClock.utcMs() - second * 1_000) % minuteMs
  const at = systemClock.utcMs() + minuteMs - late
  // A timer may end before the wall clock shows its time.
  while (systemClock.utcMs() < at) await systemClock.sleep(at - systemClock.utcMs())
}

/** Sends the minute that closes next. */
async function sendNext(sessions: readonly SessionClient[], clients: ReturningSockets): Promise<Minute> {
  await untilSecond(0)
  return send(sessions, clients, Math.floor(systemClock.utcMs() / minuteMs) * 60 - 60)
}

/** Replaces all shards. Returns when the first one got SIGTERM, and its end. */
async function rollOut(cluster: Cluster, n: number): Promise<{ begun: number; ended: Promise<unknown> }> {
  const [before, after] = n % 2 === 0 ? generations : generations.toReversed()
  let begun = Number.NaN
  const stops: Promise<unknown>[] = []
  for (const [i, name] of (after ?? []).entries()) {
    await cluster.pod(name).program.start()
    await inRotation(cluster, name)
    if (i === 0) begun = monotonicMs()
    stops.push(cluster.pod(before?.[i] ?? '').program.stop('SIGTERM', stopMsMax))
  }
  return { begun, ended: Promise.all(stops) }
}

const { home, discard } = makeMarketHome()
let cluster: Cluster | undefined
try {
  console.log(`${machine()}; ${count(sockets)} sockets × ${perSocket} of ${marketSymbols.length} symbols`)
  const env = { FXD_DRAIN_SECONDS: String(drainSeconds) }
  const feeds = join(home, 'feeds')
  cluster = await startCluster({ rest: 1, stream: 4, ingest: 1, feeds, questdb: questdbOfCluster, env })
  for (const name of generations[1]) await cluster.pod(name).program.stop('SIGINT')
  const target = { issuer: issuerOf(cluster) }
  const paths: string[] = []
  for (let i = 0; i < keysCount; i++)
    paths.push(`/v1/stream?api_key=${await issueBenchKey({ target }, marketFeeds)}`)
  const sessions = await openSessions(`127.0.0.1:${cluster.grpcPort}`, cluster.token, true)
  await firstSocket(`ws://127.0.0.1:${cluster.httpPort}${paths[0]}`)
  const clients = new ReturningSockets(
    cluster.httpPort,
    randomSubscriptions(marketSymbols, sockets, perSocket).map((symbols, i) => ({
      path: paths[i % keysCount] as string,
      symbols,
    })),
  )
  await clients.complete(completeMsMax)
  const newest = Math.floor(systemClock.utcMs() / minuteMs) * 60 - 60
  for (let n = warmUps; n > 0; n--) await send(sessions, clients, newest - n * 60)

  const calm: Minute[] = []
  for (let i = 0; i < calmMinutes; i++) calm.push(await sendNext(sessions, clients))
  const rolled: { begun: number; minute: Minute; next: Minute; after: Report }[] = []
  for (let n = 0; n < rollouts; n++) {
    await clients.reset()
    await untilSecond(rolloutSecond)
    const { begun, ended } = await rollOut(cluster, n)
    const minute = await sendNext(sessions, clients)
    await ended
    const after = await clients.complete(completeMsMax)
    rolled.push({ begun, minute, after, next: await sendNext(sessions, clients) })
  }
  await clients.close()
  for (const session of sessions) await session.close()

  const late = (sent: number, { count: bars, p50, p99, max }: Arrivals): string[] => [
    count(bars),
    ...[p50, p99, max].map((at) => (bars === 0 ? '' : ms(at - sent))),
  ]
  printTable(
    ['a minute', 'bars', 'p50', 'p99', 'max'],
    [
      ...calm.map(({ sent, report }) => ['calm', ...late(sent, report.stayed)]),
      ...rolled.flatMap(({ minute: { sent, report }, next }, i) => [
        [`in rollout ${i + 1}, sockets not closed yet`, ...late(sent, report.stayed)],
        ['sockets that had returned', ...late(sent, report.returned)],
        ['the next minute, all returned', ...late(next.sent, next.report.returned)],
      ]),
    ],
  )
  console.log()
  printTable(
    [
      'rollout',
      'last replay',
      'away p50',
      'p99',
      'returns',
      'closes',
      'not opened',
      'gaps',
      'missed',
      'twice',
    ],
    rolled.map(({ begun, after: { lastReplay, returns, ...rest } }, i) => [
      String(i + 1),
      seconds(lastReplay - begun),
      ms(returns.p50Ms),
      ms(returns.p99Ms),
      ...[returns.count, rest.closes, rest.refused, rest.gaps, rest.missed, rest.twice].map(count),
    ]),
  )
  const p99 = (minutes: readonly Minute[], of: 'stayed' | 'returned'): number[] =>
    minutes.map(({ sent, report }) => report[of].p99 - sent)
  const within = rolled.map(({ minute }) => minute)
  const last = Math.max(...rolled.map(({ begun, after }) => after.lastReplay - begun))
  console.log()
  printTable(
    ['since the first SIGTERM', 'measured', 'goal'],
    [
      ['last replay, slowest', seconds(last), '≤ 40 s'],
      ['live bars meanwhile, worst p99', ms(Math.max(...p99(within, 'stayed'))), '≤ 150 ms'],
      ['first bar of sockets that had returned, worst p99', ms(Math.max(...p99(within, 'returned'))), ''],
      ['live bars in calm minutes, median p99', ms(quantile(p99(calm, 'stayed'), 0.5)), ''],
    ],
  )
} finally {
  await cluster?.stop()
  discard()
}
