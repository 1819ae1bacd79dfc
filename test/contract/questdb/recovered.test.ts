import { expect, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { type OpenedQuestdb, openInTest } from '../../support/questdb/stores.ts'
import { batchOf, minuteBar, readList, seriesOf } from '../suites/sample-bars.ts'

const one = oneServer()
const longTimeout = { timeout: 400_000 }
const series = seriesOf('A', '1')

/** Opens stores on the server and writes one bar. */
async function fixture(): Promise<{ server: QuestdbServer; opened: OpenedQuestdb }> {
  const server = one()
  const opened = await openInTest(server)
  await opened.stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
  return { server, opened }
}

/** Number of rows in the tables of bars, read without fxd. */
async function barsStored(server: QuestdbServer, prefix: string): Promise<number> {
  const tables = (await server.exec('SELECT table_name FROM all_tables()')).flat().map(String)
  const counts = tables
    .filter((each) => each.startsWith(`${prefix}bars_`))
    .map(async (table) => Number((await server.exec(`SELECT count() FROM '${table}'`))[0]?.[0]))
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (cause: unknown) =>
      cause instanceof Unavailable ? `unavailable: ${String(cause.cause)}` : String(cause),
  )

test(
  'a QuestDB that restarts with a newer schema is neither read nor written until its schema version is right',
  longTimeout,
  async () => {
    const { server, opened } = await fixture()
    const { stores, prefix } = opened
    await server.exec(`INSERT INTO ${prefix}schema (ts, version) VALUES (0, ${schemaVersion + 1})`)
    await server.kill()
    await server.start()
    await expect
      .poll(() => outcome(readList(stores.bars, series)), { timeout: 30_000 })
      .toMatch(new RegExp(`^unavailable: .*schema version of ${prefix}schema is ${schemaVersion + 1}`))
    expect(await outcome(stores.bars.ping())).toMatch(/^unavailable/)
    const writing = stores.bars.write([batchOf(series, [minuteBar(2)])], 'live')
    await expect
      .poll(() => opened.metric('fxd_questdb_write_failures_total'), { timeout: 30_000 })
      .toBeGreaterThan(1)
    expect(await barsStored(server, prefix)).toBe(1)
    await server.exec(`TRUNCATE TABLE ${prefix}schema`)
    await server.exec(`INSERT INTO ${prefix}schema (ts, version) VALUES (0, ${schemaVersion})`)
    await writing
    expect(await readList(stores.bars, series)).toHaveLength(2)
  },
)

test(
  'a QuestDB that restarts without its data fails reads as unavailable, instead of empty answers',
  longTimeout,
  async () => {
    const { server, opened } = await fixture()
    const { stores, prefix } = opened
    const tables = (await server.exec('SELECT table_name FROM tables()')).flat().map(String)
    for (const table of tables.filter((each) => each.startsWith(prefix)))
      await server.exec(`DROP TABLE ${table}`)
    await server.kill()
    await server.start()
    await expect
      .poll(() => outcome(readList(stores.bars, series)), { timeout: 30_000 })
      .toContain(`There is no ${prefix}schema any more`)
    expect(await outcome(stores.registry.since(0))).toMatch(/^unavailable/)
  },
)

test('the commit mode is read again when QuestDB restarts', longTimeout, async () => {
  const { server, opened } = await fixture()
  expect(await opened.metric('fxd_questdb_commit_synced')).toBe(0)
  await server.kill()
  await server.start({ QDB_CAIRO_COMMIT_MODE: 'sync' })
  await expect
    .poll(
      async () =>
        (await outcome(readList(opened.stores.bars, series))) === 'done' &&
        opened.metric('fxd_questdb_commit_synced'),
      {
        timeout: 30_000,
      },
    )
    .toBe(1)
})
