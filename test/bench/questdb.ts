/**
 * Measures QuestDB as the store of the service: the rate of writes, and the latency of whole history requests. Requests
 * alternate with reads of the store alone and with a simple handler (questdb-usual.ts), over the same tables.
 * Run: bin/node test/bench/questdb.ts [bars stored = 1000000 [requests of each = 150]]
 */
import { deepEqual } from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allocateBars, type Bars, barCount, sliceBars } from '../../services/core/bars/bar.ts'
import { feedSeconds } from '../../services/core/clocks/feed-clock.ts'
import { bucketOf } from '../../services/stores/questdb/layout/bucket.ts'
import { run } from '../acceptance/client/command.ts'
import { type RunningService, startService } from '../support/processes/service-process.ts'
import { type QuestdbServer, startQuestdb } from '../support/questdb/server.ts'
import { writeRepeated } from '../support/samples/repeated-export.ts'
import { feed, issueBenchKey, keyOf, makeBenchHome, walkMinutes } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile, timed } from './support/figures.ts'
import { type Opened, openOver, prefix } from './support/questdb-layouts.ts'
import { answer, closeConnections, get, type Request } from './support/whole-request.ts'

const barsWanted = Number(process.argv[2] ?? 1_000_000)
const requests = Number(process.argv[3] ?? 150)
const warmUps = 20
const minutes = 20_000
const names = ['EURUSD', ...Array.from({ length: Math.ceil(barsWanted / minutes) - 1 }, (_, i) => `SYM${i}`)]
const symbol = keyOf('EURUSD')
const barsPerWrite = 5_000
const writesAtOnce = 8
const liveSymbols = 2_000
const liveMinutes = 40
const importedBars = 500_000
const rates: string[][] = []
const perSecond = (bars: number, tookMs: number): string => `${count((bars / tookMs) * 1_000)} bars/s`

/** Writes the same minutes for each symbol as collectors do: many series at once, each in order. */
async function backfill({ stores }: Opened, bars: Bars): Promise<void> {
  const pieces = names.flatMap((name) =>
    Array.from({ length: Math.ceil(minutes / barsPerWrite) }, (_, i) => ({ name, start: i * barsPerWrite })),
  )
  const work = pieces.values()
  const writer = async (): Promise<void> => {
    for (const { name, start } of work) {
      const series = { feed, symbol: keyOf(name), resolution: '1' as const }
      const own = sliceBars(bars, start, Math.min(minutes, start + barsPerWrite))
      await stores.bars.write([{ series, bars: own }], 'backfill')
    }
  }
  const before = { ours: process.cpuUsage(), server: cpuMsOf(server) }
  const tookMs = await timed(() => Promise.all(Array.from({ length: writesAtOnce }, writer)))
  const { user, system } = process.cpuUsage(before.ours)
  const stored = names.length * minutes
  const perMillion = (cpuMs: number): string => `${((cpuMs / stored) * 1_000).toFixed(1)} s`
  rates.push(
    [`backfill of ${names.length} symbols, the store alone`, perSecond(stored, tookMs), '≥ 100,000 bars/s'],
    ['  processor time of a million bars, ours', perMillion((user + system) / 1_000), ''],
    ['  processor time of a million bars, QuestDB’s', perMillion(cpuMsOf(server) - before.server), ''],
  )
}

/** CPU time from /proc: ticks of 10 ms, after the name in brackets. */
function cpuMsOf({ pid }: QuestdbServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Writes minutes of many symbols. The first few open the server's files and do not count. */
async function live({ stores, acks }: Opened, mode: string): Promise<void> {
  acks.length = 0
  const first = 5
  const readable: number[] = []
  const now = Math.floor(Date.now() / 60_000) * 60
  for (let minute = 0; minute < liveMinutes; minute++) {
    const batch = Array.from({ length: liveSymbols }, (_, i) => {
      const bars = allocateBars(1)
      bars.time[0] = now + minute * 60
      for (const column of ['open', 'high', 'low', 'close', 'volume', 'revision'] as const)
        bars[column][0] = 1 + minute
      return { series: { feed, symbol: keyOf(`LIVE${i}`), resolution: '1' as const }, bars }
    })
    readable.push(await timed(() => stores.bars.write(batch, 'live')))
  }
  for (const [what, all, goal] of [
    ['acked', acks.slice(first), '≤ 100 ms'],
    ['readable', readable.slice(first), ''],
  ] as const)
    rates.push([
      `${count(liveSymbols)} bars of one minute, ${mode}: ${what}`,
      `${ms(quantile(all, 0.5))} (p95 ${ms(quantile(all, 0.95))})`,
      goal,
    ])
}

async function importAll(service: RunningService, home: string): Promise<void> {
  const path = join(home, 'export.csv')
  const { bars } = writeRepeated(path, importedBars)
  const args = [path, '--feed', feed, '--symbol', 'IMPORTED', '--resolution', '1', '--json']
  const tookMs = await timed(async () => {
    const { code, stderr } = await run(service.target.importer, args, 600_000)
    if (code !== 0) throw new Error(`the import ended with ${code}: ${stderr}`)
  })
  rates.push(['fxd import into a running service', perSecond(bars, tookMs), '≥ 100,000 bars/s'])
  rmSync(path)
}

async function startUsual({ pg }: QuestdbServer): Promise<{ child: ChildProcess; port: number }> {
  const file = fileURLToPath(new URL('./support/questdb-usual.ts', import.meta.url))
  const table = `${prefix}bars_brokera_zero_m1_${bucketOf('EURUSD', 4)}of4`
  const child = fork(file, [pg.host, String(pg.port), table])
  process.once('exit', () => child.kill())
  const [port] = (await once(child, 'message')) as [number]
  return { child, port }
}

interface Case {
  readonly what: string
  readonly act: () => Promise<unknown>
}

/** Alternates the cases, so that other load of the machine affects all of them. */
async function inTurn(cases: readonly Case[]): Promise<number[][]> {
  const times: number[][] = cases.map(() => [])
  for (let i = 0; i < warmUps + requests; i++)
    for (const [at, { act }] of cases.entries()) {
      const tookMs = await timed(act)
      if (i >= warmUps) times[at]?.push(tookMs)
    }
  return times
}

async function reads(service: RunningService, opened: Opened, usualPort: number): Promise<string[][]> {
  const headers = { 'x-api-key': await issueBenchKey(service) }
  const rows: string[][] = []
  for (const wanted of [300, 10_000]) {
    const path = `/v1/history?symbol=${symbol}&resolution=1&countback=${wanted}`
    const ours: Request = { url: service.target.url + path, headers }
    const theirs: Request = { url: `http://127.0.0.1:${usualPort}${path}`, headers: {} }
    deepEqual(await answer(ours), await answer(theirs))
    const series = { feed, symbol, resolution: '1' as const }
    const range = { from: feedSeconds(0), to: feedSeconds(Math.floor(Date.now() / 1_000)) }
    const read = () => opened.stores.bars.read({ series, ...range, take: { count: wanted, end: 'newest' } })
    const cases: readonly Case[] = [
      { what: `${count(wanted)} bars: the store alone`, act: read },
      { what: `${count(wanted)} bars: whole request`, act: () => get(ours) },
      { what: `${count(wanted)} bars: usual handler`, act: () => get(theirs) },
    ]
    const times = await inTurn(cases)
    const bare = quantile(times[0] ?? [], 0.5)
    for (const [at, { what }] of cases.entries()) {
      const all = times[at] ?? []
      const median = quantile(all, 0.5)
      rows.push([
        what,
        ms(median),
        ms(quantile(all, 0.95)),
        ms(quantile(all, 0)),
        ms(median - bare),
        (median / bare).toFixed(1),
      ])
    }
  }
  return rows
}

const facts = machine()
const { home, discard } = makeBenchHome(['EURUSD'])
const server = await startQuestdb({ memory: '512m', settings: { QDB_SHARED_WORKER_COUNT: '4' } })
try {
  let opened = await openOver(server)
  const bars = walkMinutes(minutes)
  await backfill(opened, sliceBars(bars, 0, barCount(bars)))
  const env = {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${server.http.host}:${server.http.port}`,
    FXD_QUESTDB_PG: `${server.pg.host}:${server.pg.port}`,
    FXD_QUESTDB_PREFIX: prefix,
  }
  const service = await startService(home, { env })
  process.once('exit', () => service.process.kill())
  const usual = await startUsual(server)
  const latencies = await reads(service, opened, usual.port)
  closeConnections()
  usual.child.kill()
  await importAll(service, home)
  await service.stop()
  await live(opened, 'nosync')
  await opened.stores.close()
  await server.kill()
  await server.start({ QDB_CAIRO_COMMIT_MODE: 'sync' })
  opened = await openOver(server)
  await live(opened, 'sync')
  await opened.stores.close()
  console.log(`${facts}; ${requests} requests of each, in turn`)
  printTable(
    ['history over QuestDB', 'median', 'p95', 'min', 'beyond the store', 'times the store'],
    latencies,
  )
  console.log()
  printTable(['bars into QuestDB', 'measured', 'goal'], rates)
} finally {
  await server.stop()
  discard()
}
