import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test, vi } from 'vitest'
import { allocateBars } from '../../../services/core/bars/bar.ts'
import type { SeriesBars } from '../../../services/core/bars/series.ts'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey, type FeedKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { type Day, usageDaysKept } from '../../../services/core/keys/usage.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import type { Clock } from '../../../services/ports/clock.ts'
import type { Stores } from '../../../services/ports/stores.ts'
import { schemaVersion } from '../../../services/stores/embedded/file/database.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { temporaryFolder } from '../../support/fixtures/temporary-folder.ts'
import { createVirtualClock, type VirtualClock, wrongClock } from '../../support/fixtures/virtual-clock.ts'

const dayMs = 86_400_000
const feed = feedKey('BROKERA', 'ZERO')

const open = (folder: string, clock: Clock = createVirtualClock()): Promise<Stores> =>
  openEmbeddedStores({ folder, clock, log: silentLog })

test('other users of the machine may not read the files of the store', async () => {
  const folder = join(temporaryFolder(), 'made', 'data')
  const stores = await open(folder)
  await stores.registry.append(0, [])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  for (const name of ['fxd.db', 'fxd.db-wal', 'fxd.db-shm', 'lock.db'])
    expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600)
  await stores.close()
})

test('a folder in use is refused with its path, and can be opened after the close', async () => {
  const folder = temporaryFolder()
  const first = await open(folder)
  await expect(open(folder)).rejects.toThrow(`The data folder ${folder} is in use by another fxd.`)
  await first.bars.ping()
  await first.close()
  const second = await open(folder)
  await second.bars.ping()
  await second.close()
})

test('a file with another schema version is refused with its version and not changed', async () => {
  const folder = temporaryFolder()
  await (await open(folder)).close()
  const setVersion = (version: number): void => {
    const db = new DatabaseSync(join(folder, 'fxd.db'))
    db.exec(`PRAGMA user_version = ${version}`)
    db.close()
  }
  for (const version of [schemaVersion + 1, 0]) {
    setVersion(version)
    await expect(open(folder)).rejects.toThrow(`fxd.db: the schema version is ${version}`)
  }
  setVersion(schemaVersion)
  await (await open(folder)).close()
})

test('a file that is not a database, or a folder that cannot be made, fails with an error that contains its path', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'fxd.db'), 'no database at all, but long enough to be looked at\n'.repeat(50))
  await expect(open(folder)).rejects.toThrow(/fxd\.db: .*not a database/)
  writeFileSync(join(folder, 'file'), '')
  await expect(open(join(folder, 'file'))).rejects.toThrow(join(folder, 'file'))
})

test('a first write that SQLite rejects fails with file and reason, and the folder can be opened once it is accepted', async () => {
  const folder = temporaryFolder()
  await (await open(folder)).close()
  const inFile = (sql: string): void => {
    const db = new DatabaseSync(join(folder, 'fxd.db'))
    db.exec(sql)
    db.close()
  }
  inFile("CREATE TRIGGER refuse BEFORE UPDATE ON opening BEGIN SELECT raise(FAIL, 'no space'); END")
  await expect(open(folder)).rejects.toThrow(`${join(folder, 'fxd.db')}: no space`)
  inFile('DROP TRIGGER refuse')
  await (await open(folder)).close()
})

test('rate windows survive a restart', async () => {
  const folder = temporaryFolder()
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12) })
  const rates = { rpm: 3, rpd: 100 }
  const before = await open(folder, clock)
  for (let i = 0; i < 2; i++) await before.limits.admit('key', rates, 'history')
  await before.close()
  const after = await open(folder, clock)
  expect(await after.limits.admit('key', rates, 'history')).toMatchObject({ outcome: 'admitted' })
  expect(await after.limits.admit('key', rates, 'history')).toMatchObject({ outcome: 'refused' })
  await after.close()
})

/** Old usage is deleted, and dropped from memory, once a day has lasted for an hour. */
async function untilPruned(stores: Stores, clock: VirtualClock): Promise<void> {
  for (const ms of [3_600_000, 1_000]) {
    await clock.advance(ms)
    await stores.bars.ping()
  }
}

const refusedOn = async ({ limits }: Stores, day: Day): Promise<number | undefined> =>
  (await limits.usage('key', day, day)).get(day)?.rate_limited

test('usage is stored for 91 days, including today', async () => {
  const folder = temporaryFolder()
  const start = Date.UTC(2026, 0, 5, 12)
  const daysKept = async (day: number): Promise<Day[]> => {
    const clock = createVirtualClock({ start: start + day * dayMs })
    const stores = await open(folder, clock)
    await stores.limits.countRefusedUpgrade('key')
    await untilPruned(stores, clock)
    const usage = await stores.limits.usage('key', '2026-01-05', '2026-12-31')
    await stores.close()
    return [...usage.keys()]
  }
  expect(await daysKept(0)).toEqual(['2026-01-05'])
  expect(await daysKept(1)).toEqual(['2026-01-05', '2026-01-06'])
  expect(await daysKept(usageDaysKept - 1)).toEqual(['2026-01-05', '2026-01-06', '2026-04-05'])
  expect(await daysKept(usageDaysKept)).toEqual(['2026-01-06', '2026-04-05', '2026-04-06'])
})

test('usage includes days that are no longer in memory', async () => {
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12) })
  let laterMs = 0
  const stores = await open(temporaryFolder(), { ...clock, utcMs: () => utcMs(clock.utcMs() + laterMs) })
  await stores.limits.countRefusedUpgrade('key')
  for (let day = 0; day < 3; day++) {
    laterMs += dayMs
    await untilPruned(stores, clock)
  }
  await stores.limits.countRefusedUpgrade('key')
  const usage = await stores.limits.usage('key', '2026-01-01', '2026-01-31')
  expect([...usage].map(([day, { rate_limited: refused }]) => [day, refused])).toEqual([
    ['2026-01-05', 1],
    ['2026-01-08', 1],
  ])
  await stores.close()
})

test('a clock that is a year ahead for half an hour deletes and drops no usage', async () => {
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12) })
  const set = wrongClock(clock)
  const stores = await open(temporaryFolder(), set)
  await stores.limits.countRefusedUpgrade('key')
  for (const { ms, aheadMs } of [
    { ms: 1_000, aheadMs: 365 * dayMs },
    { ms: 1_800_000, aheadMs: 0 },
  ]) {
    await clock.advance(ms)
    await stores.bars.ping()
    set.aheadMs = aheadMs
  }
  await stores.limits.countRefusedUpgrade('key')
  expect(await refusedOn(stores, '2026-01-05')).toBe(2)
  await stores.close()
})

test('after a start with a clock that was ahead, the greater counts of the right day are kept', async () => {
  const folder = temporaryFolder()
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12) })
  const before = await open(folder, clock)
  for (let i = 0; i < 3; i++) await before.limits.countRefusedUpgrade('key')
  await before.close()
  const set = wrongClock(clock)
  set.aheadMs = 5 * dayMs
  const after = await open(folder, set)
  set.aheadMs = 0
  await after.limits.countRefusedUpgrade('key')
  expect(await refusedOn(after, '2026-01-05')).toBe(3)
  await after.close()
  const last = await open(folder, clock)
  expect(await refusedOn(last, '2026-01-05')).toBe(3)
  await last.close()
})

test('the next start finishes a purge that the end of the process interrupted', async () => {
  const folder = temporaryFolder()
  const barsOf = (of: FeedKey, count: number): SeriesBars => {
    const bars = allocateBars(count)
    bars.time.forEach((_, i) => (bars.time[i] = i * 60))
    return { series: { feed: of, symbol: compoundKey(of, 'EURUSD'), resolution: '1' }, bars }
  }
  const kept = [feedKey('AAA', 'ZERO'), feedKey('ZZZ', 'ZERO')].map((of) => barsOf(of, 5))
  const rowsInFile = (): unknown => {
    const db = new DatabaseSync(join(folder, 'fxd.db'), { readOnly: true })
    const row = db.prepare('SELECT (SELECT count(*) FROM bar) + (SELECT count(*) FROM purged) AS rows').get()
    db.close()
    return row?.['rows']
  }
  const before = await open(folder)
  await before.bars.write([barsOf(feed, 50_000), ...kept], 'backfill')
  await before.bars.purge(feed)
  await before.close()
  expect(rowsInFile()).toBeGreaterThan(10_000)
  const after = await open(folder)
  await vi.waitFor(() => expect(rowsInFile()).toBe(10), { timeout: 20_000 })
  await after.close()
})
