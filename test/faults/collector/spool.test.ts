import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { runCollector } from '../../../services/collector/collector.ts'
import { NotLoadedYet } from '../../../services/collector/source.ts'
import { openDiskFolder } from '../../../services/collector/spool/disk-folder.ts'
import { openSpool, type Spool } from '../../../services/collector/spool/spool.ts'
import { toList } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { effort } from '../../support/effort.ts'
import { spoolBounds } from '../../support/fixtures/spool-bounds.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { killWithParent } from '../../support/processes/kill-with-parent.ts'
import { type RunningService, startService } from '../../support/processes/service-process.ts'
import { FakeTerminal, fakeSymbol } from '../../support/samples/fake-terminal.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { definitionOf } from '../../support/samples/manifest-example.ts'
import { seeded } from '../support/seeded.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const writerKills = Math.max(4, Math.round(5 * effort))
const ingestKills = Math.max(2, Math.round(effort))
/** Maximum minutes that close for each kill of ingest. */
const minutesPerKill = 40
const minuteSeconds = 60

const manifest = feedManifest({ depth: { '1': '1d' }, symbols: { list: [] } })

const openIn = async (path: string): Promise<Spool> =>
  openSpool({ folder: await openDiskFolder(path), clock: systemClock, log: silentLog, ...spoolBounds })

/** Runs the spool writer and kills it; returns the batch numbers that it printed. */
async function writeUntilKilled(path: string, first: number, killAfterMs: number) {
  const program = join(repository, 'test/faults/support/spool-writer.ts')
  const child = spawn(join(repository, 'bin/node'), [program, path, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  killWithParent(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed += text))
  const gone = once(child, 'close')
  await expect.poll(() => printed.includes('kept'), { timeout: 30_000, interval: 5 }).toBe(true)
  await pause(killAfterMs)
  child.kill('SIGKILL')
  await gone
  const numbers = (word: string): number[] =>
    [...printed.matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map(([, number]) => Number(number))
  return { kept: numbers('kept'), gone: numbers('gone') }
}

test('a collector killed while writing finds every kept and unacknowledged batch in its spool, once and in order', {
  timeout: 60_000 + writerKills * 20_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${writerKills} kills`)
  const path = temporaryFolder()
  const expected = new Set<number>()
  let next = 1
  for (let kill = 0; kill < writerKills; kill++) {
    const printed = await writeUntilKilled(path, next, random() * 300)
    for (const number of printed.kept) expected.add(number)
    for (const number of printed.gone) expected.delete(number)
    const spool = await openIn(path)
    const records = await Promise.all(spool.ids().map((id) => spool.read(id)))
    const found = records.map((record) => Number(record?.series[0]?.first) / minuteSeconds)
    await spool.close()
    expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
    expect(found).toEqual(expect.arrayContaining([...expected]))
    next = Math.max(next, ...printed.kept, ...found) + 1
    // Batches printed as gone, or not printed as kept, may be in the spool; from now on they must stay.
    for (const number of found) expected.add(number)
  }
})

test('ingest is killed repeatedly while a terminal without history continues: every minute is stored once', {
  timeout: 60_000 + ingestKills * 60_000,
}, async () => {
  const { random, seed } = seeded()
  console.log(`FXD_TEST_SEED=${seed}: ${ingestKills} kills`)
  const home = temporaryFolder()
  const feed = definitionOf(manifest)
  mkdirSync(join(home, 'feeds'))
  writeFileSync(join(home, 'feeds', 'brokera-zero.yaml'), JSON.stringify(manifest))
  let service: RunningService = await startService(home, { store: 'embedded' })
  onTestFinished(() => void service.process.kill('SIGKILL'))
  const identity = { token: readFileSync(service.target.token, 'utf8').trim() }

  // Simulated minutes last 5 ms and begin in the past: ingest refuses minutes of the future.
  const names = ['EURUSD', 'GBPUSD', 'USDJPY']
  const hoursBack = 5 + Math.ceil((ingestKills * minutesPerKill) / 60)
  const begun = Math.floor(Date.now() / 1_000 / minuteSeconds) * minuteSeconds - hoursBack * 3_600
  let now = begun
  const source = new FakeTerminal(
    names.map((name) => fakeSymbol(name)),
    () => now,
  )
  const spool = await openIn(join(home, 'spool'))
  const ending = new AbortController()
  const collecting = runCollector({
    definition: feed,
    source,
    spool,
    address: () => service.target.grpc,
    identity: () => identity,
    clock: systemClock,
    log: silentLog,
    signal: ending.signal,
  })
  const passMinutes = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await pause(5)
      now += minuteSeconds
      source.closeMinute()
    }
  }
  await expect.poll(() => source.reads.length, { timeout: 30_000 }).toBeGreaterThan(names.length)
  await expect
    .poll(async () => passMinutes(1).then(() => spool.depth.batches), { timeout: 30_000 })
    .toBeGreaterThan(0)
  source.beforeRead = () => {
    throw new NotLoadedYet()
  }
  const historyLost = now
  let most = 0
  for (let kill = 0; kill < ingestKills; kill++) {
    await passMinutes(5 + Math.floor(random() * 10))
    await service.stop('SIGKILL')
    await passMinutes(10 + Math.floor(random() * 10))
    most = Math.max(most, spool.depth.batches)
    service = await startService(home, { store: 'embedded' })
    await expect.poll(() => spool.depth.batches, { timeout: 45_000 }).toBe(0)
  }
  expect(most).toBeGreaterThan(5)
  expect([spool.droppedBars, spool.failures]).toEqual([0, 0])
  ending.abort()
  await collecting
  await spool.close()
  await service.stop()

  const stores = await openEmbeddedStores({ folder: join(home, 'data'), clock: systemClock, log: silentLog })
  for (const name of names) {
    const series = { feed: feed.key, symbol: compoundKey(feed.key, name), resolution: '1' as const }
    const stored = toList(
      await stores.bars.read({
        series,
        from: feedSeconds(historyLost),
        to: feedSeconds(now - minuteSeconds),
      }),
    )
    const wanted = toList(source.bars('1', historyLost, now))
    expect(stored.map(({ time, close }) => [time, close])).toEqual(
      wanted.map(({ time, close }) => [time, close]),
    )
  }
  await stores.close()
})
