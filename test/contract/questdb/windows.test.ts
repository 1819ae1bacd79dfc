import { expect, test } from 'vitest'
import type { Window } from '../../../services/core/bars/window.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { createRegistry } from '../../../services/stores/questdb/layout/statements.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'

const server = oneServer()
const feed = feedKey('BROKERA', 'ZERO')
const daySeconds = 86_400
const table = (prefix: string): string => `${prefix}windows_brokera_zero`
const untilApplied = { timeout: 20_000, interval: 100 }

const window = (name: string | undefined, from: number, to: number): Window => ({
  feed,
  symbol: name === undefined ? undefined : compoundKey(feed, name),
  resolution: '1',
  from: feedSeconds(from),
  to: feedSeconds(to),
})

const rowsOf = async (prefix: string): Promise<number> =>
  Number((await server().exec(`SELECT count() FROM ${table(prefix)}`))[0]?.[0])

test('backfill from the newest day on leaves one row per symbol, and minutes of the whole feed leave one row', async () => {
  const { stores, prefix } = await openInTest(server())
  const symbols = Array.from({ length: 40 }, (_, i) => `SYM${i}`)
  const today = 20_000 * daySeconds
  for (let day = 0; day < 30; day++) {
    const from = today - day * daySeconds
    await stores.windows.add(symbols.map((name) => window(name, from, from + daySeconds)))
  }
  for (let minute = 0; minute < 30; minute++)
    await stores.windows.add([window(undefined, today + minute * 60, today + minute * 60 + 60)])
  expect(await rowsOf(prefix)).toBe(symbols.length + 1)
  const stored = await stores.windows.of(feed)
  expect(stored).toHaveLength(symbols.length + 1)
  expect(stored).toContainEqual(window('SYM7', today - 29 * daySeconds, today + daySeconds))
  expect(stored).toContainEqual(window(undefined, today, today + 1_800))
})

test('a start joins 300,000 window rows of earlier starts in time', async () => {
  const { stores, prefix } = await openInTest(server())
  await stores.windows.add([window('SYM0', 0, 60)])
  const [symbols, rows] = [1_000, 300_000]
  // Consecutive minutes of each symbol, each from another writer.
  await server().exec(`
    INSERT INTO ${table(prefix)}
    SELECT x::timestamp, 'SYM' || (x - 1) % ${symbols}, '1', 'writer' || (x - 1) / ${symbols}, 0,
      (x - 1) / ${symbols} * 60, (x - 1) / ${symbols} * 60 + 60
    FROM long_sequence(${rows})`)
  await expect.poll(() => rowsOf(prefix), untilApplied).toBeGreaterThanOrEqual(rows)
  const { stores: restarted } = await openInTest(server(), { prefix })
  const stored = await restarted.windows.of(feed)
  expect(stored).toHaveLength(symbols)
  expect(stored).toContainEqual(window('SYM999', 0, (rows / symbols) * 60))
  await restarted.windows.add([window('SYM999', (rows / symbols) * 60, 1_000_000)])
  expect(await restarted.windows.of(feed)).toContainEqual(window('SYM999', 0, 1_000_000))
})

test('a migration keeps windows of the first layout, and new windows join them', async () => {
  const prefix = 'old_'
  await server().exec(createRegistry(`${prefix}registry`))
  await server().exec(`
    CREATE TABLE ${table(prefix)} (ts TIMESTAMP, sym SYMBOL, res SYMBOL, writer SYMBOL, start LONG, stop LONG)
    TIMESTAMP(ts) PARTITION BY YEAR WAL DEDUP UPSERT KEYS(ts, sym, res, writer, start)`)
  await server().exec(
    `INSERT INTO ${table(prefix)} VALUES (0, 'A', '1', 'w', 0, 60), (60000000, 'A', '1', 'w', 120, 180)`,
  )
  await server().exec(`
    CREATE TABLE ${prefix}schema (ts TIMESTAMP, version INT)
    TIMESTAMP(ts) PARTITION BY YEAR WAL DEDUP UPSERT KEYS(ts, version)`)
  await server().exec(`INSERT INTO ${prefix}schema (ts, version) VALUES (0, 1)`)
  await expect
    .poll(async () => (await server().exec(`SELECT version FROM ${prefix}schema`))[0]?.[0], untilApplied)
    .toBe(1)
  await server().exec(`SELECT wait_wal_table('${table(prefix)}')`)
  const opened = await Promise.all([openInTest(server(), { prefix }), openInTest(server(), { prefix })])
  for (const { stores } of opened)
    expect(await stores.windows.of(feed)).toEqual([window('A', 0, 60), window('A', 120, 180)])
  await opened[0].stores.windows.add([window('A', 60, 90)])
  await opened[1].stores.windows.add([window('A', 90, 120)])
  expect(await opened[0].stores.windows.of(feed)).toEqual([window('A', 0, 180)])
  const versions = await server().exec(`SELECT version FROM ${prefix}schema ORDER BY version`)
  expect(versions.at(-1)).toEqual([schemaVersion])
})
