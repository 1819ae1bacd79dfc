import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { createUsageDays } from '../../../services/stores/questdb/layout/statements.ts'
import { freePorts } from '../../support/free-ports.ts'
import { doctor, lineOf, withNewestBar } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'

const server = oneServer()
/** QuestDB acknowledges a statement before its effect is readable. */
const untilApplied = { timeout: 20_000, interval: 100 }

/** A free address, on which no process listens. */
const nowhere = async (): Promise<string> => `127.0.0.1:${(await freePorts(1))[0]}`

test('a healthy store gets one ok line per check and the exit code 0', async () => {
  const found = await doctor(server(), await withNewestBar(server(), -60, '1'))
  expect(found.code).toBe(0)
  expect(found.lines.join()).not.toContain('RESUME WAL')
  expect(lineOf(found, 'version')).toMatch(/^ok +version: QuestDB 9\.3\.4$/)
  expect(lineOf(found, 'automatic tables')).toMatch(/^ok /)
  expect(lineOf(found, 'connections')).toMatch(
    /^ok +connections: 64 for reading; .*: all 21, rest 19, ingest 9, stream 6$/,
  )
  expect(lineOf(found, 'postgres')).toMatch(/^ok /)
  expect(lineOf(found, 'schema')).toBe(`ok       schema: version ${schemaVersion}`)
  expect(lineOf(found, 'suspended tables')).toBe('ok       suspended tables: none')
  expect(lineOf(found, 'missing tables')).toBe('ok       missing tables: none')
  expect(lineOf(found, 'altered tables')).toBe('ok       altered tables: none')
  expect(lineOf(found, 'tables')).toMatch(/^ok +tables: 8 of at most 300$/)
  expect(lineOf(found, 'file handles')).toMatch(/^\S+ +file handles: up to \d+ of \d+/)
  expect(lineOf(found, 'memory maps')).toMatch(/^\S+ +memory maps: \d+ partitions need \d+ of \d+/)
  expect(lineOf(found, 'clocks')).toMatch(/^ok +clocks: 1 of 1 newest bars agree/)
})

test('a commit mode that does not wait for the disk is a warning that names the right setting', async () => {
  const found = await doctor(server(), (await openInTest(server())).prefix)
  expect(lineOf(found, 'commit mode')).toMatch(/^warning .*nosync.*Cure: set QDB_CAIRO_COMMIT_MODE=sync/)
  expect(found.code).toBe(0)
})

test('fewer than four workers are a warning that names the right setting', async () => {
  const found = await doctor(server(), (await openInTest(server())).prefix)
  expect(lineOf(found, 'workers')).toMatch(
    /^warning +workers: 2 for HTTP.*Cure: set QDB_SHARED_WORKER_COUNT=4/,
  )
  expect(found.code).toBe(0)
})

test('after a restart with commit mode sync and four workers both checks are ok', async () => {
  const prefix = await withNewestBar(server(), -60)
  await server().kill()
  await server().start({ QDB_CAIRO_COMMIT_MODE: 'sync', QDB_SHARED_WORKER_COUNT: '4' })
  onTestFinished(async () => {
    await server().kill()
    await server().start()
  })
  const found = await doctor(server(), prefix)
  expect(lineOf(found, 'commit mode')).toBe('ok       commit mode: sync')
  expect(lineOf(found, 'workers')).toBe('ok       workers: 4 for HTTP')
  expect(found.code).toBe(0)
})

test('rows that an earlier release parked are a warning with their number and the statement that drops them', async () => {
  const { prefix } = await openInTest(server())
  await server().exec(
    `CREATE TABLE ${prefix}parked (ts TIMESTAMP, origin SYMBOL, reason VARCHAR, line VARCHAR) TIMESTAMP(ts) PARTITION BY MONTH WAL`,
  )
  await server().exec(`INSERT INTO ${prefix}parked VALUES (0, 'writer', 'a reason', 'a line')`)
  await expect
    .poll(async () => lineOf(await doctor(server(), prefix), 'parked rows'), untilApplied)
    .toMatch(
      new RegExp(`^warning .*1 rows .*SELECT \\* FROM '${prefix}parked'; .*DROP TABLE '${prefix}parked'`),
    )
})

test('a suspended table is WRONG with its reason and the resume statement, and the exit code is 1', async () => {
  const prefix = await withNewestBar(server(), -60)
  const table = `${prefix}bars_brokera_zero_h1`
  await server().exec(`ALTER TABLE ${table} SUSPEND WAL WITH 'DISK FULL', 'no space left'`)
  await expect
    .poll(async () => lineOf(await doctor(server(), prefix), 'suspended table'), untilApplied)
    .toMatch(new RegExp(`^WRONG +suspended table: ${table} .*DISK FULL.*RESUME WAL`))
  expect((await doctor(server(), prefix)).code).toBe(1)
  await server().exec(`ALTER TABLE ${table} RESUME WAL`)
  await expect.poll(async () => (await doctor(server(), prefix)).code, untilApplied).toBe(0)
})

test('a schema of a newer fxd is WRONG, a missing schema is a warning, and doctor makes no tables', async () => {
  const { prefix } = await openInTest(server())
  await server().exec(`INSERT INTO ${prefix}schema (ts, version) VALUES (0, ${schemaVersion + 1})`)
  await expect
    .poll(async () => lineOf(await doctor(server(), prefix), 'schema'), untilApplied)
    .toMatch(new RegExp(`^WRONG .*version ${schemaVersion + 1}.*start the newer fxd`))
  const none = await doctor(server(), 'nobody_')
  expect(none.code).toBe(0)
  expect(lineOf(none, 'schema')).toMatch(/^warning .*nobody_schema/)
  const tables = (await server().exec('SELECT table_name FROM tables()')).flat()
  expect(tables.filter((table) => String(table).startsWith('nobody_'))).toEqual([])
})

test('an unavailable server is WRONG with the variable to set, for HTTP and for Postgres', async () => {
  const http = await doctor(server(), 'p_', { FXD_QUESTDB_HTTP: await nowhere() })
  expect(http.code).toBe(1)
  expect(lineOf(http, 'http')).toMatch(/^WRONG .*ECONNREFUSED.*FXD_QUESTDB_HTTP/)
  const pg = await doctor(server(), 'p_', { FXD_QUESTDB_PG: await nowhere() })
  expect(pg.code).toBe(1)
  expect(lineOf(pg, 'postgres')).toMatch(/^WRONG .*ECONNREFUSED.*FXD_QUESTDB_PG/)
  const password = await doctor(server(), 'p_', { FXD_QUESTDB_PASSWORD: 'wrong' })
  expect(password.code).toBe(1)
  expect(lineOf(password, 'postgres')).toMatch(/^WRONG .*FXD_QUESTDB_PASSWORD/)
})

test('unfinished tables are named with the statement that drops them', async () => {
  const { prefix } = await openInTest(server())
  const draft = `${prefix}draft_${'0'.repeat(16)}`
  await server().exec(createUsageDays(draft))
  const found = await doctor(server(), prefix)
  expect(found.code).toBe(0)
  expect(lineOf(found, 'left-over tables')).toMatch(new RegExp(`^warning .*DROP TABLE '${draft}'`))
  const [row] = await server().exec(
    `SELECT directoryName FROM tables() WHERE table_name = '${prefix}usage_days'`,
  )
  await server().kill()
  // The state of a table if QuestDB is killed while making it.
  rmSync(join(server().folder, 'db', String(row?.[0]), 'txn_seq'), { recursive: true })
  await server().start()
  const broken = await doctor(server(), prefix)
  expect(broken.code).toBe(1)
  expect(lineOf(broken, 'half-made table')).toMatch(new RegExp(`^WRONG .*${prefix}usage_days .*DROP TABLE`))
})

test.each([
  ['rest=2,stream=3', /^ok +connections: 64 for reading; these processes and a doctor use up to 57$/],
  [
    'rest=2,stream=4,ingest=2',
    /^warning +connections: 64 .* up to 81\. Cure: raise QDB_PG_NET_CONNECTION_LIMIT/,
  ],
])('the sum of the connections of %s is compared with the limit of the server', async (pods, line) => {
  expect(lineOf(await doctor(server(), 'fxd_', {}, '--pods', pods), 'connections')).toMatch(line)
})

test('a malformed count of processes is refused', async () => {
  const { code, err } = await doctor(server(), 'fxd_', {}, '--pods', 'rest=two')
  expect([code, err]).toEqual([64, expect.stringContaining('--pods: got "rest=two"')])
})
