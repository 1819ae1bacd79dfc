import { describe, expect, test } from 'vitest'
import type { Window } from '../../../services/core/bars/window.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { TableOutOfOrder, Unavailable } from '../../../services/core/failure.ts'
import { type CompoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { acceptTables, refillTable } from '../../../services/ingest/registry/tables.ts'
import type { RegistryBody } from '../../../services/ports/registry.ts'
import { aFeed, aSymbol } from '../../support/fixtures/rest-fixture.ts'
import { doctor, lineOf } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { type OpenedQuestdb, openInTest } from '../../support/questdb/stores.ts'
import { always, batchOf, minuteBar, minuteBars, readList, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()
const feed = feedKey('BROKERA', 'ZERO')
const [hours, others] = [seriesOf('A', '60'), seriesOf('A', '240')]
const bars = minuteBars(0, 3)
const soon = { timeout: 20_000, interval: 50 }
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
const windowOf = (
  symbol: CompoundKey | undefined,
  resolution: '1' | '60',
  from: number,
  to: number,
): Window => ({
  feed,
  symbol,
  resolution,
  from: feedSeconds(from),
  to: feedSeconds(to),
})

const feedRow: RegistryBody = {
  kind: 'feed',
  id: feed,
  body: { definition: aFeed('BROKERA', 'ZERO'), hidden: false },
}

const exec = (sql: string) => server().exec(sql)
const tablesOf = async (prefix: string): Promise<string[]> =>
  (await exec('SELECT table_name FROM all_tables()')).map(String).filter((name) => name.startsWith(prefix))

/** Copies the rows of a table, as a restore of one table does. */
async function copy(from: string, to: string): Promise<void> {
  await exec(
    `CREATE TABLE '${to}' AS (SELECT * FROM '${from}'), INDEX(sym) TIMESTAMP(ts) PARTITION BY YEAR WAL ` +
      'DEDUP UPSERT KEYS(ts, sym, rev, taken)',
  )
  await exec(`SELECT wait_wal_table('${to}')`)
}

const damages = {
  dropped: (table: string) => exec(`DROP TABLE '${table}'`),
  renamed: (table: string) => exec(`RENAME TABLE '${table}' TO '${table}_away'`),
  async replaced(table: string) {
    await copy(table, `${table}_new`)
    await exec(`DROP TABLE '${table}'`)
    await exec(`RENAME TABLE '${table}_new' TO '${table}'`)
    await exec(`TRUNCATE TABLE '${table}'`)
  },
} as const

/** Stores with three bars at two resolutions. */
async function filled(): Promise<OpenedQuestdb> {
  const opened = await openInTest(server())
  await opened.stores.bars.write([batchOf(hours, bars), batchOf(others, bars)], 'live')
  return opened
}

const outcomeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (cause: unknown) => cause,
  )

describe.each(['dropped', 'renamed', 'replaced'] as const)('a table of bars that was %s', (how) => {
  test('fails its reads and the ping, and is not made again', async () => {
    const { stores, prefix, metric } = await filled()
    const reader = await openInTest(server(), { prefix, user: 'rest' })
    await damages[how](h1(prefix))
    const tables = await tablesOf(prefix)
    const later = await openInTest(server(), { prefix })
    for (const { bars: store } of [stores, reader.stores, later.stores]) {
      await expect.poll(() => outcomeOf(readList(store, hours)), soon).toBeInstanceOf(TableOutOfOrder)
      expect(await outcomeOf(store.bounds(hours, [always]))).toBeInstanceOf(TableOutOfOrder)
      expect(await outcomeOf(store.lastTimes(feed))).toBeInstanceOf(TableOutOfOrder)
      expect([...(await store.lastTimes(feed, { isPartial: true })).keys()]).toEqual(['240 BROKERA:ZERO:A'])
      expect(await outcomeOf(store.ping())).toBeInstanceOf(Unavailable)
      expect(await readList(store, others)).toEqual(bars)
    }
    expect(await metric('fxd_questdb_tables_out_of_order')).toBe(1)
    void later.stores.bars.write([batchOf(hours, bars)], 'live').catch(() => undefined)
    await later.stores.bars.write([batchOf(others, bars)], 'live')
    expect(await tablesOf(prefix)).toEqual(tables)
  })

  test('holds its own writes only, also in a write with bars of other tables, until it is refilled', async () => {
    const { stores, prefix } = await filled()
    await stores.registry.append(0, [feedRow])
    await damages[how](h1(prefix))
    await expect.poll(() => outcomeOf(readList(stores.bars, hours)), soon).toBeInstanceOf(TableOutOfOrder)
    let isStored = false
    const both = [batchOf(hours, [minuteBar(3)]), batchOf(others, [minuteBar(3)])]
    const write = stores.bars.write(both, 'live').then(() => (isStored = true))
    await expect.poll(() => readList(stores.bars, others), soon).toEqual(minuteBars(0, 4))
    await stores.bars.write([batchOf(others, [minuteBar(4)])], 'live')
    expect(await readList(stores.bars, others)).toEqual(minuteBars(0, 5))
    expect(isStored).toBe(false)
    await stores.tables.refill(h1(prefix))
    await write
    expect(await readList(stores.bars, hours)).toEqual([minuteBar(3)])
  })

  test('is named by the doctor with its cures, and the audit does not call its feed whole', async () => {
    const { stores, prefix } = await filled()
    await stores.registry.append(0, [feedRow])
    await damages[how](h1(prefix))
    const found = await doctor(server(), prefix, {}, '--audit')
    expect(found.code).toBe(1)
    const about = how === 'replaced' ? 'replaced table' : 'missing table'
    expect(lineOf(found, about)).toMatch(
      new RegExp(`^WRONG .*${h1(prefix)}.*fxd store accept ${h1(prefix)}.*fxd store refill ${h1(prefix)}`),
    )
    expect(lineOf(found, 'audit')).toMatch(new RegExp(`^WRONG .*${h1(prefix)}`))
  })
})

test('a table that is renamed back is served again', async () => {
  const { stores, prefix } = await filled()
  await damages.renamed(h1(prefix))
  await expect.poll(() => outcomeOf(readList(stores.bars, hours)), soon).toBeInstanceOf(TableOutOfOrder)
  await exec(`RENAME TABLE '${h1(prefix)}_away' TO '${h1(prefix)}'`)
  await expect.poll(() => readList(stores.bars, hours).catch(String), soon).toEqual(bars)
  await stores.bars.ping()
})

test('a copied table is refused until it is accepted, and then every process serves its bars', async () => {
  const { stores, prefix } = await filled()
  const { bars: reader } = (await openInTest(server(), { prefix, user: 'rest' })).stores
  await copy(h1(prefix), `${prefix}copy`)
  await exec(`DROP TABLE '${h1(prefix)}'`)
  await exec(`RENAME TABLE '${prefix}copy' TO '${h1(prefix)}'`)
  await expect.poll(() => outcomeOf(readList(reader, hours)), soon).toBeInstanceOf(TableOutOfOrder)
  expect((await stores.tables.list()).filter(({ state }) => state !== 'in order')).toEqual([
    { name: h1(prefix), state: 'replaced', canBeRefilled: true },
  ])
  await stores.tables.accept([h1(prefix)])
  expect(await readList(stores.bars, hours)).toEqual(bars)
  await expect.poll(() => readList(reader, hours).catch(String), soon).toEqual(bars)
  await stores.bars.write([batchOf(hours, [minuteBar(3)])], 'live')
  expect(await readList(stores.bars, hours)).toEqual(minuteBars(0, 4))
})

test('a plain copy by SQL is refused with the statements that make the right table, and doctor does not say to drop it', async () => {
  const { stores, prefix } = await filled()
  await stores.registry.append(0, [feedRow])
  const table = h1(prefix)
  await exec(`CREATE TABLE '${prefix}copy' AS (SELECT * FROM '${table}')`)
  await exec(`DROP TABLE '${table}'`)
  await exec(`RENAME TABLE '${prefix}copy' TO '${table}'`)
  const cured = new RegExp(
    `^${table} lacks WAL, deduplication, partitions by YEAR: .*CREATE TABLE .*INSERT INTO`,
  )
  await expect(acceptTables({ tables: [table] }, stores)).rejects.toThrow(cured)
  await expect(acceptTables({ tables: [] }, stores)).rejects.toThrow(cured)
  await expect(refillTable({ table }, stores)).rejects.toThrow(cured)
  const found = await doctor(server(), prefix)
  expect(lineOf(found, 'table without WAL')).toMatch(new RegExp(`^WRONG .*${table}.* has 3.*do not drop it`))
  expect(found.lines.join('\n')).not.toContain('DROP TABLE')

  const text = (await stores.tables.unfitness(table)) ?? ''
  for (const sql of text.slice(text.indexOf('RENAME'), text.indexOf('; then accept')).split('; '))
    await exec(sql)
  await exec(`SELECT wait_wal_table('${table}')`)
  expect(await acceptTables({ tables: [table] }, stores)).toEqual({ accepted: [table], missing: [] })
  const write = () => outcomeOf(stores.bars.write([batchOf(hours, [minuteBar(3)])], 'live'))
  await expect.poll(write, soon).toBe('done')
  expect(await readList(stores.bars, hours)).toEqual(minuteBars(0, 4))
})

describe('a refill', () => {
  test('of a missing table makes it again, and no process restores its windows', async () => {
    const { stores, prefix } = await filled()
    await stores.registry.append(0, [feedRow])
    const other = (await openInTest(server(), { prefix })).stores
    await stores.windows.add([windowOf(undefined, '60', 60, 600), windowOf(undefined, '1', 60, 600)])
    await other.windows.add([windowOf(hours.symbol, '60', 60, 1_200)])
    await damages.dropped(h1(prefix))
    const ended: string[] = []
    other.tables.onRepaired((of) => void ended.push(of))
    await stores.tables.refill(h1(prefix))
    expect(await readList(stores.bars, hours)).toEqual([])
    expect(await stores.windows.of(feed)).toEqual([windowOf(undefined, '1', 60, 600)])
    await expect.poll(() => ended, soon).toEqual([feed])
    // Both windows touch what each of the processes has written before.
    await stores.windows.add([windowOf(undefined, '60', 600, 660)])
    await other.windows.add([windowOf(hours.symbol, '60', 1_200, 1_260)])
    expect(new Set(await stores.windows.of(feed))).toEqual(
      new Set([
        windowOf(undefined, '1', 60, 600),
        windowOf(undefined, '60', 600, 660),
        windowOf(hours.symbol, '60', 1_200, 1_260),
      ]),
    )
    await other.bars.write([batchOf(hours, bars)], 'live')
    await expect.poll(() => readList(other.bars, hours), soon).toEqual(bars)
    await other.bars.ping()
  })

  test('of one of several tables of a resolution keeps the coverage of the symbols in the other tables', async () => {
    const { stores, prefix } = await openInTest(server())
    const list = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'].map((name) => seriesOf(name))
    await stores.registry.append(0, [
      feedRow,
      ...list.map(
        ({ symbol }): RegistryBody => ({
          kind: 'symbol',
          id: symbol,
          body: aSymbol(symbol, { since: feedSeconds(300) }),
        }),
      ),
    ])
    await stores.bars.write(
      list.map((series) => batchOf(series, bars)),
      'live',
    )
    await stores.windows.add([
      windowOf(undefined, '1', 60, 600),
      ...list.map(({ symbol }) => windowOf(symbol, '1', 900, 1_200)),
    ])
    const table = `${prefix}bars_brokera_zero_m1_0of4`
    const inTable = new Set(
      (await exec(`SELECT DISTINCT sym FROM '${table}'`)).map(([name]) => `${feed}:${String(name)}`),
    )
    expect(inTable.size).toBeGreaterThan(0)
    await damages.dropped(table)
    await stores.tables.refill(table)
    const kept = list.filter(({ symbol }) => !inTable.has(symbol))
    expect(kept.length).toBeGreaterThan(0)
    expect(await stores.windows.of(feed)).toHaveLength(2 * kept.length)
    expect(new Set(await stores.windows.of(feed))).toEqual(
      new Set(
        kept.flatMap(({ symbol }) => [windowOf(symbol, '1', 300, 600), windowOf(symbol, '1', 900, 1_200)]),
      ),
    )
    for (const series of kept) expect(await readList(stores.bars, series)).toEqual(bars)
  })
})

test('a purge of a feed with a missing table ends, and the feed can be filled anew', async () => {
  const { stores, prefix } = await filled()
  await damages.dropped(h1(prefix))
  await stores.bars.purge(feed)
  await stores.bars.ping()
  expect(await readList(stores.bars, others)).toEqual([])
  // The first write may find that the table is another one than before.
  const write = () => outcomeOf(stores.bars.write([batchOf(hours, bars)], 'live'))
  await expect.poll(write, soon).toBe('done')
  expect(await readList(stores.bars, hours)).toEqual(bars)
})

test('tables that an earlier fxd made, without records, are recorded at the next start', async () => {
  const { stores, prefix } = await filled()
  await exec(`DROP TABLE '${prefix}tables'`)
  await stores.close()
  const next = await openInTest(server(), { prefix })
  expect(await readList(next.stores.bars, hours)).toEqual(bars)
  await damages.dropped(h1(prefix))
  await expect.poll(() => outcomeOf(readList(next.stores.bars, hours)), soon).toBeInstanceOf(TableOutOfOrder)
})

test.each(['registry', 'usage_days', 'windows_brokera_zero'])(
  'a %s that was replaced fails its reads',
  async (name) => {
    const { stores, prefix } = await filled()
    await stores.registry.append(0, [feedRow])
    await stores.windows.add([windowOf(undefined, '60', 60, 600)])
    const table = `${prefix}${name}`
    await exec(`CREATE TABLE '${table}_new' (LIKE '${table}')`)
    await exec(`DROP TABLE '${table}'`)
    await exec(`RENAME TABLE '${table}_new' TO '${table}'`)
    const read = (): Promise<unknown> => {
      if (name === 'registry') return stores.registry.since(0)
      return name === 'usage_days'
        ? stores.usageDays.of('id', '2026-01-01', '2026-01-02')
        : stores.windows.of(feed)
    }
    await expect.poll(() => outcomeOf(read()), soon).toBeInstanceOf(TableOutOfOrder)
    expect(await readList(stores.bars, hours)).toEqual(bars)
  },
)
