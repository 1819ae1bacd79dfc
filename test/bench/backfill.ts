/**
 * Measures how a backfill of three months of 200 symbols delays a live minute. It uses a real `fxd all`, a real
 * collector with a spool in this process, and one socket in a separate process. Blocks of minutes with and without
 * the backfill alternate, so that other load of the machine affects both.
 * Run: bin/node test/bench/backfill.ts [minutes = 100]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCollector } from '../../services/collector/collector.ts'
import { openDiskFolder } from '../../services/collector/spool/disk-folder.ts'
import { openSpool } from '../../services/collector/spool/spool.ts'
import { silentLog } from '../../services/platform/log/log.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { spoolBounds } from '../support/fixtures/spool-bounds.ts'
import { startService } from '../support/processes/service-process.ts'
import { FakeTerminal, fakeSymbol } from '../support/samples/fake-terminal.ts'
import { definitionOf } from '../support/samples/manifest-example.ts'
import { monotonicMs } from './minute/monotonic.ts'
import { issueBenchKey, keyOf, makeBenchHome, metricOf } from './support/bench-feed.ts'
import { count, machine, ms, printTable, quantile } from './support/figures.ts'
import type { MinuteOrder, MinuteReport } from './support/minute-client.ts'

const [minutes = 100] = process.argv.slice(2).map(Number)
const facts = machine()
const blocks = 10
const warmUps = 5
const symbolsMost = 200
const depthDays = 90
const minuteSeconds = 60
/** Minutes that a collector sends live at its start. */
const liveReachMinutes = 6 * 60
const deadlineMs = 60_000
/** Delay at the start of a block, until earlier work has ended or the backfill has started. */
const settleMs = 400
const names = Array.from({ length: symbolsMost }, (_, i) => `SYM${i}`)

/** Reads of history wait while the gate is shut. */
class Gate {
  #waiting: (() => void)[] = []
  #isOpen = false

  shut(): void {
    this.#isOpen = false
  }

  open(): void {
    this.#isOpen = true
    for (const pass of this.#waiting.splice(0)) pass()
  }

  pass(): Promise<void> {
    return this.#isOpen ? Promise.resolve() : new Promise((resolve) => void this.#waiting.push(resolve))
  }
}

const spec = { resolutions: ['1'], depth: { '1': `${depthDays}d` } }
const { home, discard, manifest } = makeBenchHome(names, spec)
const spoolPath = mkdtempSync(join(tmpdir(), 'fxd-bench-spool-'))
const ending = new AbortController()
try {
  const service = await startService(home)
  process.once('exit', () => service.process.kill())
  const key = await issueBenchKey(service)
  const identity = { token: readFileSync(service.target.token, 'utf8').trim() }

  const client = fork(fileURLToPath(new URL('./support/minute-client.ts', import.meta.url)))
  process.once('exit', () => client.kill())
  const path = `/v1/stream?api_key=${key}`
  const url = `${service.target.url.replace('http', 'ws')}${path}`
  client.send({ url, symbols: names.map(keyOf) } satisfies MinuteOrder)
  await once(client, 'message')
  const arrivals = new Map<number, number>()
  client.on('message', ({ time, at }: MinuteReport) => void arrivals.set(time, at))

  // Minutes of the recent past, which close as soon as they are requested.
  let now = (Math.floor(Date.now() / 60_000) - minutes * 2 - warmUps - 5) * minuteSeconds
  const beginning = now
  const source = new FakeTerminal(
    names.map((name) => fakeSymbol(name)),
    () => now,
  )
  const gate = new Gate()
  source.beforeRead = ({ span }) => (span.to < beginning - 3_600 ? gate.pass() : undefined)
  const spool = await openSpool({
    folder: await openDiskFolder(spoolPath),
    clock: systemClock,
    log: silentLog,
    ...spoolBounds,
  })
  const collecting = runCollector({
    definition: definitionOf(manifest),
    source,
    spool,
    address: () => service.target.grpc,
    identity: () => identity,
    clock: systemClock,
    log: silentLog,
    signal: ending.signal,
  })

  const stored = (): Promise<number> => metricOf(service, 'fxd_ingest_bars_total')
  const caughtUp = symbolsMost * liveReachMinutes - symbolsMost * (minutes * 2 + warmUps + 10)
  while ((await stored()) < caughtUp || spool.depth.batches > 0) await systemClock.sleep(200)

  /** Milliseconds from the terminal's close to the last bar at the client. */
  const minute = async (): Promise<number> => {
    const begun = monotonicMs()
    const wanted = now
    now += minuteSeconds
    source.closeMinute()
    while (!arrivals.has(wanted)) {
      if (monotonicMs() - begun > deadlineMs) throw new Error(`the minute ${wanted} has not arrived`)
      await systemClock.sleep(5)
    }
    return (arrivals.get(wanted) ?? 0) - begun
  }
  // The first one was already read.
  now += minuteSeconds
  source.closeMinute()
  for (let i = 0; i < warmUps; i++) await minute()

  const alone: number[] = []
  const beside: number[] = []
  let backfilled = 0
  let backfillMs = 0
  for (let block = 0; block < blocks; block++) {
    for (const [figures, isOpen] of [
      [alone, false],
      [beside, true],
    ] as const) {
      if (isOpen) gate.open()
      else gate.shut()
      await systemClock.sleep(settleMs)
      const [before, begun] = [await stored(), monotonicMs()]
      for (let i = 0; i < minutes / blocks; i++) {
        figures.push(await minute())
        // A random point in the cycle of the backfill.
        await systemClock.sleep(20 + systemClock.random() * 60)
      }
      if (!isOpen) continue
      backfilled += (await stored()) - before
      backfillMs += monotonicMs() - begun
    }
  }
  gate.open()
  const [before, begun] = [await stored(), monotonicMs()]
  await systemClock.sleep(5_000)
  const undisturbed = ((await stored()) - before) / (monotonicMs() - begun)
  const row = (what: string, all: readonly number[]): string[] => [
    what,
    ...[0, 0.1, 0.5, 0.9].map((q) => ms(quantile(all, q))),
  ]
  const added = (q: number): string => ms(quantile(beside, q) - quantile(alone, q))
  console.log(`${facts}; ${minutes} minutes of ${symbolsMost} symbols each, from the terminal to one socket`)
  printTable(
    ['a live minute', 'min', 'p10', 'p50', 'p90'],
    [
      row('alone', alone),
      row(`beside a backfill of ${depthDays} days`, beside),
      ['added', added(0), added(0.1), added(0.5), added(0.9)],
    ],
  )
  const rate = (barsPerMs: number): string => `${count(barsPerMs * 1_000)} bars/s`
  console.log(
    `the backfill meanwhile: ${rate(backfilled / backfillMs)}; without live minutes: ${rate(undisturbed)}`,
  )
  ending.abort()
  await collecting
  await spool.close()
  client.kill()
  await service.stop()
} finally {
  discard()
  rmSync(spoolPath, { recursive: true, force: true })
}
