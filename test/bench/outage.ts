/**
 * An outage of the store under the whole market, at the real cadence: QuestDB is stopped, or one table of five-minute bars is
 * suspended. 2,312 symbols in 40 messages a minute, 500 sockets × 200 symbols, a watched socket, and the Python example.
 * Run: bin/node test/bench/outage.ts <stopped|suspended> [minutes = 30]
 */

import { readFileSync } from 'node:fs'
import type { SessionClient } from '../../services/collector/connection/session-client.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { encodeSeriesBars } from '../../services/wire/encode-bars.ts'
import {
  makeMarketHome,
  makeTables,
  market,
  marketFeeds,
  marketSymbols,
  messagesOf,
  openSessions,
} from './minute/market.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { randomSubscriptions, SocketReader } from './minute/socket-reader.ts'
import { type Subject, startProcesses } from './minute/subjects.ts'
import { loseMinute } from './outage/lose-minute.ts'
import { addPythonFeed, PythonCollector, pythonSymbols } from './outage/python-collector.ts'
import { ServedMinutes, sinceBars } from './outage/served-minutes.ts'
import { WatchedSocket } from './outage/watched-socket.ts'
import { digits, issueBenchKey, metricOf } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile, seconds } from './support/figures.ts'
import { firstSocket } from './support/first-socket.ts'
import { barsOfMinute } from './support/whole-minute.ts'

const [kind = 'stopped', given = '30'] = process.argv.slice(2)
if (kind !== 'stopped' && kind !== 'suspended') throw new Error(`got ${kind}, wanted stopped or suspended`)
const outageMinutes = Number(given)
/** In this minute of a suspended table the bus loses bars. */
const lossAt = Math.floor(outageMinutes / 2)
const calmMinutes = 2
const perSocket = 200
const minuteMs = 60_000
const ackedDeadlineMs = 300_000
const historiesAtOnce = 8

interface Minute {
  readonly open: number
  readonly framesMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly acks: Promise<readonly number[]>
}

/** Sends the minute that just closed. Resolves once all sockets have it. */
async function sendMinute(
  sessions: readonly SessionClient[],
  sockets: SocketReader,
  subject: Subject,
): Promise<Minute> {
  const closed = Math.ceil(systemClock.utcMs() / minuteMs) * minuteMs
  // A timer may end before the wall clock shows its time: then this minute would be sent twice.
  while (systemClock.utcMs() < closed) await systemClock.sleep(closed - systemClock.utcMs())
  const open = closed / 1_000 - 60
  const arrived = sockets.expect(subject.sockets * perSocket)
  const begun = monotonicMs()
  const acks = Promise.all(
    messagesOf(open, 40).map(async ([index, series]) => {
      const { accepted, refused } = await (sessions[index] as SessionClient).bars('LIVE', [...series])
      if (accepted !== series.length) throw new Error(`${accepted} accepted: ${JSON.stringify(refused[0])}`)
      return monotonicMs() - begun
    }),
  )
  acks.catch(() => undefined)
  const { p50, p99, max } = await arrived
  return { open, framesMs: { p50: p50 - begun, p99: p99 - begun, max: max - begun }, acks }
}

/** Sends the five-minute bars that just closed. Returns the Acks of its messages. */
function sendFive(sessions: readonly SessionClient[], open: number): readonly Promise<unknown>[] {
  if ((open + 60) % 300 !== 0) return []
  return market.map(({ names }, index) => {
    const series = barsOfMinute(names, open - 240).map(({ name, bars }) =>
      encodeSeriesBars({ symbol: name, resolution: '5', scale: digits }, bars),
    )
    return (sessions[index] as SessionClient).bars('LIVE', series)
  })
}

async function historyOf(
  port: number,
  key: string,
  symbol: string,
  minutes: number,
): Promise<readonly number[]> {
  const url = `http://127.0.0.1:${port}/v1/history?symbol=${symbol}&resolution=1&countback=${minutes}`
  const answer = (await (await fetch(url, { headers: { 'X-API-Key': key } })).json()) as { t?: number[] }
  return answer.t ?? []
}

/** Symbols whose history on one pod is not exactly `times`. */
async function wrongHistories(
  port: number,
  key: string,
  symbols: readonly string[],
  times: readonly number[],
): Promise<string[]> {
  const wrong: string[] = []
  const left = [...symbols]
  const wanted = times.join()
  await Promise.all(
    Array.from({ length: historiesAtOnce }, async () => {
      for (let symbol = left.pop(); symbol !== undefined; symbol = left.pop()) {
        const got = await historyOf(port, key, symbol, times.length)
        if (got.join() !== wanted) wrong.push(`${symbol}: ${got.length} of ${times.length}`)
      }
    }),
  )
  return wrong
}

const peakMib = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024

/** Suspends one table of five-minute bars. QuestDB may undo it while it applies rows, so this repeats until it stays. */
async function suspendTable({ questdb }: Subject): Promise<string> {
  if (!questdb) throw new Error('only the cluster has QuestDB')
  const like = `${market[0]?.feed.replace(':', '_').toLowerCase()}_m5`
  const [row] = await questdb.exec(
    `SELECT table_name FROM tables() WHERE table_name LIKE '%bars_${like}%' ORDER BY table_name LIMIT 1`,
  )
  if (!row) throw new Error(`no table of five-minute bars is named like ${like}`)
  const table = String(row[0])
  const query = `SELECT table_suspended FROM tables() WHERE table_name = '${table}'`
  for (let seen = 0; seen < 5; await systemClock.sleep(100)) {
    const [state] = await questdb.exec(query)
    seen = state?.[0] === true ? seen + 1 : 0
    if (seen === 0) await questdb.exec(`ALTER TABLE '${table}' SUSPEND WAL`)
  }
  return table
}

async function measure(home: string, subject: Subject, stops: (() => unknown)[]): Promise<void> {
  const key = await issueBenchKey({ target: subject }, [...marketFeeds, 'BROKERA:PYTHON'])
  const path = `/v1/stream?api_key=${key}`
  const url = `ws://127.0.0.1:${subject.httpPort}${path}`
  const questdb = subject.questdb as NonNullable<Subject['questdb']>
  const sessions = await openSessions(subject.grpc, subject.token, true)
  let sessionsEnded = 0
  for (const { ended } of sessions) void ended.then(() => (sessionsEnded += 1))
  const python = new PythonCollector(home, subject.grpc, subject.token)
  stops.push(() => python.stop())
  const pulse = setInterval(() => {
    for (const session of sessions) session.heartbeat({ terminalConnected: true })
  }, 5_000)
  stops.push(() => clearInterval(pulse))
  const first = Math.floor(systemClock.utcMs() / minuteMs) * 60 - 120
  await makeTables(sessions, first)
  python.append(first)
  await systemClock.sleep(5_000)
  await firstSocket(url)
  const watchedSymbols = [...marketSymbols.slice(0, 150), ...pythonSymbols]
  const watched = await WatchedSocket.open(url, watchedSymbols)
  const subscriptions = randomSubscriptions(marketSymbols, subject.sockets, perSocket)
  const sockets = await SocketReader.open(subject.httpPort, path, subscriptions)
  stops.push(() => sockets.close())
  const pid = subject.pids()[subject.ingest] ?? 0
  const all: Minute[] = []
  const fives: Promise<unknown>[] = []
  let fivesAcked = 0
  const next = async (): Promise<Minute> => {
    const minute = await sendMinute(sessions, sockets, subject)
    python.append(minute.open)
    if (kind === 'suspended')
      for (const ack of sendFive(sessions, minute.open)) {
        fives.push(ack)
        ack.then(
          () => (fivesAcked += 1),
          () => undefined,
        )
      }
    all.push(minute)
    return minute
  }
  const served = new ServedMinutes({ subject, sessions, key, url })
  const calm: Minute[] = []
  for (let n = 0; n < calmMinutes + (kind === 'suspended' ? 5 : 0); n++) calm.push(await next())
  await Promise.all(calm.map(({ acks }) => acks))
  console.log(
    `calm: frames p99 ${calm.map(({ framesMs }) => ms(framesMs.p99)).join(' ')}, ingest peak ${peakMib(pid).toFixed(0)} MiB`,
  )

  const table = kind === 'suspended' ? await suspendTable(subject) : ''
  if (kind === 'stopped') await questdb.kill()
  console.log(kind === 'stopped' ? 'QuestDB stopped' : `${table} suspended`)
  const during: Minute[] = []
  for (let n = 0; n < outageMinutes; n++) {
    const losing = kind === 'suspended' && n === lossAt ? loseMinute(subject) : undefined
    const minute = await next()
    await losing
    during.push(minute)
    console.log(
      `${n + 1}: frames p99 ${ms(minute.framesMs.p99)}, ingest ${peakMib(pid).toFixed(0)} MiB, sessions ended ${sessionsEnded}, GAPs ${watched.gaps}`,
    )
    if (kind === 'suspended') await served.check(minute.open, minute.acks)
  }
  const status = await (
    await fetch(`http://127.0.0.1:${subject.httpPort}/v1/status`, { headers: { 'X-API-Key': key } })
  ).text()
  console.log(`status in the outage: ${status.slice(0, 400)}`)
  const fivesWaiting = fives.length - fivesAcked
  if (kind === 'stopped') await questdb.start()
  else await questdb.exec(`ALTER TABLE '${table}' RESUME WAL`)
  const returned = monotonicMs()
  await Promise.race([
    Promise.all([...all.map(({ acks }) => acks), ...fives]),
    systemClock
      .sleep(ackedDeadlineMs)
      .then(() => Promise.reject(new Error('not all of it was acknowledged'))),
  ])
  const ackedMs = monotonicMs() - returned
  const lastOpen = all.at(-1)?.open ?? 0
  for (const port of Object.values(subject.readers))
    for (const symbol of [marketSymbols.at(-1) as string, pythonSymbols[0] as string])
      while ((await historyOf(port, key, symbol, 1))[0] !== lastOpen) await systemClock.sleep(50)
  const inHistoryMs = monotonicMs() - returned
  const times = all.map(({ open }) => open)
  const wrong: string[] = []
  for (const port of Object.values(subject.readers))
    wrong.push(...(await wrongHistories(port, key, [...marketSymbols, ...pythonSymbols], times)))
  const missed = watchedSymbols.filter(
    (symbol) => (watched.times.get(symbol) ?? []).slice(-times.length).join() !== times.join(),
  )
  let losses = 0
  for (const ops of subject.opsOfStreams ?? [])
    losses += await metricOf({ target: { ops } }, 'fxd_stream_bus_losses_total')
  const p99 = during.map(({ framesMs }) => framesMs.p99)
  console.log()
  printTable(
    [`${kind} for ${outageMinutes} minutes`, 'measured', 'goal'],
    [
      [
        'frames p99: median, slowest minute',
        `${ms(quantile(p99, 0.5))}, ${ms(Math.max(...p99))}`,
        '≤ 100 ms',
      ],
      ['frames p99 before the outage', ms(Math.max(...calm.map(({ framesMs }) => framesMs.p99))), ''],
      ['sessions that ended', `${sessionsEnded} + ${python.sessionsLost} of Python`, '0'],
      [
        'closes and GAPs of the watched socket',
        `${watched.closes.join() || 'none'} and ${watched.gaps}`,
        '0',
      ],
      ['symbols with a bar missed, twice or out of order', `${missed.length} and ${watched.disordered}`, '0'],
      ['all acknowledged after the return', seconds(ackedMs), '≤ 60 s'],
      ['all in history of all pods', seconds(inHistoryMs), '≤ 60 s'],
      [
        'histories that differ',
        `${wrong.length} of ${count(2 * (marketSymbols.length + pythonSymbols.length))}`,
        '0',
      ],
      ['peak memory of ingest', `${peakMib(pid).toFixed(0)} MiB`, '≤ 512 MiB'],
      [
        'bars published',
        count(await metricOf({ target: { ops: subject.opsOfIngest } }, 'fxd_ingest_bars_total')),
        '',
      ],
      ...(kind === 'suspended'
        ? [
            ['M1 acknowledged and on all pods, slowest', ms(Math.max(...served.visibleMs)), ''],
            ['M1 covered on all pods, slowest', ms(Math.max(...served.coveredMs)), ''],
            [
              'bars by since, fewest, and GAPs',
              `${Math.min(...served.sinceCounts)} and ${served.sinceGaps}`,
              `${sinceBars} and 0`,
            ],
            ['M5 messages that waited for their Ack', `${fivesWaiting} of ${fives.length}`, '> 0'],
            ['events of feeds that the bus lost', count(losses), '≥ 8'],
          ]
        : []),
    ],
  )
  for (const each of wrong.slice(0, 5)) console.log(each)
  for (const each of missed.slice(0, 5))
    console.log(`missed: ${each}: ${watched.times.get(each)?.length} of ${times.length}`)
  for (const session of sessions) await session.close()
  watched.close()
}

console.log(machine())
const { home, discard } = makeMarketHome(['1', '5', '30'])
addPythonFeed(home)
const stops: (() => unknown)[] = [discard]
try {
  const subject = await startProcesses(home, false)
  stops.push(() => subject.stop())
  await measure(home, subject, stops)
} finally {
  for (const stop of stops.reverse()) await stop()
}
