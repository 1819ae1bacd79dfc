/**
 * Measures how soon a service with five million bars is ready and answers, and its memory. Measures the same for the
 * first start with the demo feeds, during and after their seeding.
 * Run: bin/node test/bench/start.ts [bars = 5000000 [starts = 5]]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type RunningService, startService } from '../support/processes/service-process.ts'
import {
  issueBenchKey,
  keyOf,
  makeBenchHome,
  residentMb,
  storeMinutes,
  walkMinutes,
} from './support/bench-feed.ts'
import { count, machine, printTable, quantile, seconds, timed } from './support/figures.ts'
import { seeded } from './support/seeding.ts'

const barsWanted = Number(process.argv[2] ?? 5_000_000)
const starts = Number(process.argv[3] ?? 5)
const symbolsMost = 50
const minutes = Math.ceil(barsWanted / symbolsMost)
const names = Array.from({ length: symbolsMost }, (_, i) => `SYM${i}`)
const answerDeadlineMs = 60_000

/** Requests history until it has bars. Returns their number. */
async function firstBars({ target }: RunningService, key: string, symbol: string): Promise<number> {
  const url = `${target.url}/v1/history?symbol=${symbol}&resolution=1&countback=10000`
  const end = performance.now() + answerDeadlineMs
  while (performance.now() < end) {
    const response = await fetch(url, { headers: { 'x-api-key': key } })
    const answer = (await response.json()) as { s: string; t?: number[] }
    if (answer.s === 'ok') return answer.t?.length ?? 0
    await pause(50)
  }
  throw new Error(`${url} had no bars within ${answerDeadlineMs} ms`)
}

const mib = (value: number): string => `${Math.round(value)} MiB`
const rows: string[][] = []

async function measureStarts(): Promise<void> {
  const { home, discard } = makeBenchHome(names)
  try {
    await storeMinutes(home, names, walkMinutes(minutes))
    let service = await startService(home)
    const key = await issueBenchKey(service)
    await service.stop()
    const [ready, answered, memory]: number[][] = [[], [], []]
    for (let i = 0; i < starts; i++) {
      const begun = performance.now()
      service = await startService(home)
      ready?.push(performance.now() - begun)
      await firstBars(service, key, keyOf(names[i % names.length] ?? ''))
      answered?.push(performance.now() - begun)
      memory?.push(await residentMb(service))
      await service.stop()
    }
    const stored = `${count(minutes * names.length)} bars stored`
    const row = (what: string, all: readonly number[] = [], show: (value: number) => string, goal = '') =>
      rows.push([`${stored}: ${what}`, show(quantile(all, 0.5)), show(quantile(all, 1)), goal])
    row('ready after', ready, seconds, '≤ 10 s')
    row('10,000 bars answered after', answered, seconds)
    row('resident then', memory, mib, '≤ 500 MiB')
  } finally {
    discard()
  }
}

async function measureDemo(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'fxd-bench-'))
  try {
    const begun = performance.now()
    const service = await startService(home, { env: { FXD_FEEDS: '' } })
    const readyMs = performance.now() - begun
    const key = /fxd_[0-9a-f]{32}/.exec(readFileSync(service.target.log, 'utf8'))?.[0]
    if (key === undefined) throw new Error(`no key was printed: see ${service.target.log}`)
    await firstBars(service, key, keyOf('BTCUSD'))
    const answeredMs = performance.now() - begun
    const { bars, tookMs, peakMb } = await seeded(service)
    const after = await residentMb(service)
    const stopMs = await timed(() => service.stop())
    rows.push(
      ['first start with the demo feeds: ready after', seconds(readyMs), '', ''],
      ['first start with the demo feeds: first bars after', seconds(answeredMs), '', '≤ 10 s'],
      [`${count(bars)} demo bars seeded after`, seconds(tookMs), '', ''],
      ['resident after seeding (most: while seeding)', mib(after), mib(peakMb), '≤ 500 MiB'],
      ['Ctrl-C to the end', seconds(stopMs), '', ''],
    )
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const facts = machine()
await measureStarts()
await measureDemo()
console.log(`${facts}; ${starts} starts, files in the page cache`)
printTable(['start', 'median', 'most', 'goal'], rows)
