import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { feedSeconds, toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable, Unfinished } from '../../../services/core/failure.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../services/core/feeds/feed.ts'
import { clockReadingId } from '../../../services/core/registry/clock-history.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { RegistryStore } from '../../../services/ports/registry.ts'
import { emptyTables } from '../../../services/stores/questdb/empty-tables.ts'
import { administration } from '../../../services/stores/questdb/exec.ts'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { createBars, isTtl, timeToLive } from '../../../services/stores/questdb/layout/statements.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest, openOn } from '../../support/questdb/stores.ts'
import { tableOf } from '../../support/questdb/table-of.ts'
import { batchOf, minuteBar, readList, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()
const feed = feedKey('BROKERC', 'TADIL')
const daySeconds = 86_400
const weekSeconds = 7 * daySeconds

const definition = (more: Partial<FeedDefinition>): FeedDefinition => ({
  key: feed,
  name: 'brokerc-tadil',
  broker: 'BROKERC',
  account: 'TADIL',
  brokerName: 'BROKERC',
  description: '',
  clock: { mode: 'Fixed', offsetSeconds: 4_018 * daySeconds },
  quoteBasis: 'Bid',
  resolutions: ['1', '60'],
  delaySeconds: 0,
  liveness: 'candle',
  depth: {},
  retention: {},
  storageBuckets: 4,
  suffixes: [],
  symbols: [],
  source: { type: 'Push' },
  ...more,
})

async function define(registry: RegistryStore, of: FeedDefinition): Promise<void> {
  const version = (await registry.since(0)).at(-1)?.version ?? 0
  const body = { definition: of, hidden: false }
  expect(await registry.append(version, [{ kind: 'feed', id: of.key, body }])).toMatchObject({
    outcome: 'stored',
  })
}

const tablesOf = async (prefix: string): Promise<readonly string[]> =>
  (await server().exec('SELECT table_name FROM tables()'))
    .flat()
    .map(String)
    .filter((table) => table.startsWith(prefix))
    .sort()

const ttlOf = async (table: string): Promise<readonly unknown[] | undefined> =>
  (await server().exec(`SELECT ttlValue, ttlUnit FROM tables() WHERE table_name = '${table}'`))[0]

/** A part that must not be called: purges that end earlier do not reach it. */
const neverAsked = { waitForStatements: () => Promise.reject(new Error('nothing was emptied')) }

const connection = () => ({
  http: server().http,
  credentials: { user: 'admin', password: 'quest' },
  clock: systemClock,
})

test('concurrent starts make one schema, and a later start changes nothing', async () => {
  const prefix = 'twice_'
  const opened = await Promise.all(Array.from({ length: 4 }, () => openInTest(server(), { prefix })))
  const made = await tablesOf(prefix)
  expect(made).toEqual(expect.arrayContaining(['twice_registry', 'twice_schema', 'twice_tables']))
  for (const { stores } of opened) await stores.bars.ping()
  await openInTest(server(), { prefix })
  expect(await tablesOf(prefix)).toEqual(made)
  await expect
    .poll(() => server().exec('SELECT max(version), count() FROM twice_schema'))
    .toEqual([[schemaVersion, schemaVersion]])
})

test('a schema of a newer fxd is refused by its version and not changed', async () => {
  const { prefix } = await openInTest(server())
  await server().exec(`INSERT INTO ${prefix}schema (ts, version) VALUES (0, ${schemaVersion + 1})`)
  await expect
    .poll(() => openOn(server(), { prefix }).then(() => 'opened', String))
    .toContain(`schema version of ${prefix}schema is ${schemaVersion + 1}`)
})

test('opening fails as Unavailable within seconds if the server is unreachable or does not answer', async () => {
  const silent = createServer()
  const port = await new Promise<number>((resolve) =>
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as { port: number }).port)),
  )
  onTestFinished(() => void silent.close())
  const never = { host: '127.0.0.1', port }
  await expect(openOn({ http: never, pg: never })).rejects.toBeInstanceOf(Unavailable)
  const refusing = { host: '127.0.0.1', port: 1 }
  await expect(openOn({ http: refusing, pg: refusing })).rejects.toBeInstanceOf(Unavailable)
  await expect(openOn({ http: server().http, pg: refusing })).rejects.toBeInstanceOf(Unavailable)
})

test('a feed gets the number of M1 buckets and the retention of its definition', async () => {
  const { stores, prefix } = await openInTest(server())
  await define(stores.registry, definition({ storageBuckets: 8, retention: { '1': 80 * daySeconds } }))
  await stores.bars.write(
    [
      batchOf(seriesOf('A', '1', feed), [minuteBar(-6_000_000)]),
      batchOf(seriesOf('A', '60', feed), [minuteBar(-6_000_000)]),
    ],
    'live',
  )
  const made = (await tablesOf(prefix)).filter((table) => table.includes('_bars_'))
  expect(made).toHaveLength(9)
  expect(made.filter((table) => /_m1_[0-7]of8$/.test(table))).toHaveLength(8)
  expect(await ttlOf(`${prefix}bars_brokerc_tadil_m1_0of8`)).toEqual([12, 'WEEK'])
  expect((await ttlOf(`${prefix}bars_brokerc_tadil_h1`))?.[0]).toBe(0)
})

test('a changed or removed retention is applied to the tables at once and at the next start', async () => {
  const { stores, prefix } = await openInTest(server())
  const table = `${prefix}bars_brokerc_tadil_h1`
  const minutes = `${prefix}bars_brokerc_tadil_m1_0of4`
  // Tables with partitions of a year do not accept a removal of the TTL.
  const none = [9_999, 'YEAR']
  await stores.bars.write(
    [
      batchOf(seriesOf('A', '60', feed), [minuteBar(-6_000_000)]),
      batchOf(seriesOf('A', '1', feed), [minuteBar(-6_000_000)]),
    ],
    'live',
  )
  expect((await ttlOf(table))?.[0]).toBe(0)
  await define(stores.registry, definition({ retention: { '1': weekSeconds, '60': 2 * 365 * daySeconds } }))
  await expect.poll(() => ttlOf(minutes)).toEqual([1, 'WEEK'])
  await expect.poll(() => ttlOf(table)).toEqual([2, 'YEAR'])
  await define(stores.registry, definition({}))
  await expect.poll(() => ttlOf(table)).toEqual(none)
  await expect.poll(async () => (await ttlOf(minutes))?.[0]).toBe(0)
  await server().exec(`ALTER TABLE ${table} SET TTL 3 YEARS`)
  await openInTest(server(), { prefix })
  await expect.poll(() => ttlOf(table)).toEqual(none)
})

test.each(['1', '5', '10', '15', '60', '120', '240', '1D', '1W', '1M'] as const)(
  'a retention of any length at %s is accepted as a TTL of whole partitions',
  async (resolution) => {
    // 330 days need twelve of the shortest months, which the server shows as a year.
    for (const days of [1, 26 * 7, 330, 400]) {
      const table = `units_${resolution.toLowerCase()}_${days}`
      const ttl = timeToLive(resolution, days * daySeconds)
      await server().exec(createBars(table, resolution, ttl))
      const [value, unit] = (await ttlOf(table)) ?? []
      expect(ttl && isTtl(ttl, value, unit), `${String(value)} ${String(unit)}`).toBe(true)
      await server().exec(`DROP TABLE ${table}`)
    }
  },
)

test('retention uses the clock of the feed, eleven years behind, and a bar on another clock is refused', async () => {
  const { stores } = await openInTest(server())
  const retention = { '1': 4 * weekSeconds }
  await define(stores.registry, definition({ retention }))
  const now = toSeconds(systemClock.utcMs()) - 4_018 * daySeconds
  const minute = Math.floor(now / 60) * 60
  const series = seriesOf('A', '1', feed)
  const at = (seconds: number) => ({ ...minuteBar(0), time: feedSeconds(seconds) })
  const weekly = Array.from({ length: 12 }, (_, week) => at(minute - (11 - week) * weekSeconds))
  await stores.bars.write([batchOf(series, weekly)], 'backfill')
  const otherClock = at(toSeconds(systemClock.utcMs()))
  await expect(stores.bars.write([batchOf(series, [otherClock])], 'live')).rejects.toThrow(
    'its feed’s clock shows'.replace('’', "'"),
  )
  await stores.bars.write([batchOf(series, [at(minute + 60)])], 'live')
  const kept = (await readList(stores.bars, series)).map(({ time }) => time)
  expect(kept.at(-1)).toBe(minute + 60)
  expect(kept.length).toBeGreaterThanOrEqual(5)
  expect(kept.length).toBeLessThan(13)
  expect(kept.filter((time) => time > minute - 4 * weekSeconds)).toHaveLength(5)
})

test('a retention is withdrawn when the clock of the feed is set back, and bars on the new clock stay', async () => {
  const { stores, prefix } = await openInTest(server())
  const retention = { '1': 4 * weekSeconds }
  await define(stores.registry, definition({ retention, clock: { mode: 'UTC' } }))
  const now = Math.floor(toSeconds(systemClock.utcMs()) / 60) * 60
  const series = seriesOf('A', '1', feed)
  const at = (seconds: number) => ({ ...minuteBar(0), time: feedSeconds(seconds) })
  const table = tableOf(prefix, series, 4)
  await stores.bars.write([batchOf(series, [at(now - 60)])], 'live')
  expect(await ttlOf(table)).toEqual([4, 'WEEK'])
  await define(stores.registry, definition({ retention }))
  await expect.poll(async () => (await ttlOf(table))?.[0]).toBe(0)
  const behind = now - 4_018 * daySeconds
  await stores.bars.write([batchOf(series, [at(behind - 120), at(behind - 60)])], 'backfill')
  expect(await readList(stores.bars, series)).toHaveLength(3)
})

test('with a measured clock nothing is deleted until the clock is known; then retention uses it', async () => {
  const { stores, prefix } = await openInTest(server())
  const retention = { '1': 4 * weekSeconds }
  await define(stores.registry, definition({ clock: { mode: 'Measured' }, retention }))
  const now = toSeconds(systemClock.utcMs()) - 4_018 * daySeconds
  const minute = Math.floor(now / 60) * 60
  const [series, spoiled] = ['A', 'B'].map((name) => seriesOf(name, '1', feed))
  if (series === undefined || spoiled === undefined) throw new Error('two series')
  const [table, spoiledTable] = [series, spoiled].map((of) => tableOf(prefix, of, 4))
  expect(table).not.toBe(spoiledTable)
  const at = (seconds: number) => ({ ...minuteBar(0), time: feedSeconds(seconds) })
  const weekly = Array.from({ length: 12 }, (_, week) => at(minute - (11 - week) * weekSeconds))
  const otherClock = at(toSeconds(systemClock.utcMs()))
  await stores.bars.write([batchOf(series, weekly), batchOf(spoiled, weekly)], 'backfill')
  await stores.bars.write([batchOf(spoiled, [otherClock])], 'live')
  expect((await ttlOf(String(table)))?.[0]).toBe(0)
  expect(await readList(stores.bars, series)).toHaveLength(12)
  expect(await readList(stores.bars, spoiled)).toHaveLength(13)

  const reading = {
    feed,
    source: 'Measured',
    offsetSeconds: 4_018 * daySeconds,
    since: systemClock.utcMs(),
  } as const
  const version = (await stores.registry.since(0)).at(-1)?.version ?? 0
  await stores.registry.append(version, [{ kind: 'clock', id: clockReadingId(reading), body: reading }])
  await expect.poll(() => ttlOf(String(table))).toEqual([4, 'WEEK'])
  await expect(stores.bars.write([batchOf(series, [otherClock])], 'live')).rejects.toThrow(
    "its feed's clock shows",
  )
  await stores.bars.write([batchOf(series, [at(minute + 60)]), batchOf(spoiled, [at(minute + 60)])], 'live')
  const kept = (await readList(stores.bars, series)).map(({ time }) => time)
  expect(kept.length).toBeLessThan(13)
  expect(kept.filter((time) => time > minute - 4 * weekSeconds)).toHaveLength(5)
  // The bar on another clock in this table would make the TTL delete all others, so it has no TTL.
  expect((await ttlOf(String(spoiledTable)))?.[0]).toBe(0)
  expect(await readList(stores.bars, spoiled)).toHaveLength(14)
})

test('an unfinished purge names the remaining tables within its deadline, and the next purge finishes them', async () => {
  const { stores, prefix } = await openInTest(server())
  const hours = seriesOf('A', '60', feed)
  await stores.bars.write(
    [batchOf(hours, [minuteBar(-6_000_000)]), batchOf(seriesOf('A', '240', feed), [minuteBar(-6_000_000)])],
    'live',
  )
  const table = `${prefix}bars_brokerc_tadil_h1`
  await server().exec(`ALTER TABLE ${table} SUSPEND WAL`)
  const unfinished: unknown = await stores.bars.purge(feed).catch((cause: unknown) => cause)
  expect(unfinished).toBeInstanceOf(Unfinished)
  expect(String(unfinished)).toContain(`1 of 2 tables may still hold rows (${table})`)
  expect(String(unfinished)).toContain('Run the purge again')
  await server().exec(`ALTER TABLE ${table} RESUME WAL`)
  await expect.poll(() => stores.bars.purge(feed).then(() => 'purged', String)).toBe('purged')
  expect(await readList(stores.bars, hours)).toEqual([])

  await server().freeze()
  onTestFinished(() => server().thaw())
  const deps = { admin: administration(connection()), visibility: neverAsked, clock: systemClock }
  const late: unknown = await emptyTables(feed, [table], 1_000, deps).catch((cause: unknown) => cause)
  expect(late).toBeInstanceOf(Unfinished)
  expect(String(late)).toContain(`1 of 1 tables may still hold rows (${table})`)
})
