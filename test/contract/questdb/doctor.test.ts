import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { run } from '../../../services/cli/run.ts'
import { clockReadingId } from '../../../services/core/clocks/clock-history.ts'
import { feedSeconds, toSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { createParked } from '../../../services/stores/questdb/layout/statements.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const server = oneServer()
const feed = feedKey('BROKERA', 'ZERO')
const hourSeconds = 3_600
/** QuestDB acknowledges a statement before its effect is readable. */
const untilApplied = { timeout: 20_000, interval: 100 }

/** A free address, on which no process listens. */
const nowhere = async (): Promise<string> => `127.0.0.1:${(await freePorts(1))[0]}`

interface Examined {
  readonly code: number
  readonly lines: readonly string[]
  readonly err: string
}

async function doctor(
  prefix: string,
  more: Record<string, string> = {},
  ...args: string[]
): Promise<Examined> {
  let [out, err] = ['', '']
  const { http, pg } = server()
  const environment = {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${http.host}:${http.port}`,
    FXD_QUESTDB_PG: `${pg.host}:${pg.port}`,
    FXD_QUESTDB_PREFIX: prefix,
    ...more,
  }
  const code = await run(['doctor', ...args], {
    environment,
    clock: systemClock,
    watched: false,
    folder: process.cwd(),
    input: () => process.stdin,
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  })
  return { code, lines: out.trimEnd().split('\n'), err }
}

const lineOf = ({ lines }: Examined, about: string): string =>
  lines.find((line) => line.slice(9).startsWith(`${about}:`)) ??
  `nothing about ${about} in ${lines.join('|')}`

/** Makes a feed three hours ahead of UTC, with one bar `fromNowSeconds` from the present time of its clock. */
async function withNewestBar(fromNowSeconds: number, resolution: '1' | '60' = '60'): Promise<string> {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'Fixed', offsetSeconds: -3 * hourSeconds } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const now = toSeconds(systemClock.utcMs()) + 3 * hourSeconds
  const time = feedSeconds(Math.floor((now + fromNowSeconds) / 60) * 60)
  await stores.bars.write([batchOf(seriesOf('A', resolution, feed), [{ ...minuteBar(0), time }])], 'live')
  return prefix
}

test('a healthy store gets one ok line per check and the exit code 0', async () => {
  const found = await doctor(await withNewestBar(-60, '1'))
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
  expect(lineOf(found, 'parked rows')).toBe('ok       parked rows: none')
  expect(lineOf(found, 'tables')).toMatch(/^ok +tables: 8 of at most 300$/)
  expect(lineOf(found, 'file handles')).toMatch(/^\S+ +file handles: up to \d+ of \d+/)
  expect(lineOf(found, 'memory maps')).toMatch(/^\S+ +memory maps: up to \d+ of \d+/)
  expect(lineOf(found, 'clocks')).toMatch(/^ok +clocks: 1 of 1 newest bars agree/)
})

test('a commit mode that does not wait for the disk is a warning that names the right setting', async () => {
  const found = await doctor((await openInTest(server())).prefix)
  expect(lineOf(found, 'commit mode')).toMatch(/^warning .*nosync.*Cure: set QDB_CAIRO_COMMIT_MODE=sync/)
  expect(found.code).toBe(0)
})

test('fewer than four workers are a warning that names the right setting', async () => {
  const found = await doctor((await openInTest(server())).prefix)
  expect(lineOf(found, 'workers')).toMatch(
    /^warning +workers: 2 for HTTP.*Cure: set QDB_SHARED_WORKER_COUNT=4/,
  )
  expect(found.code).toBe(0)
})

test('after a restart with commit mode sync and four workers both checks are ok', async () => {
  const prefix = await withNewestBar(-60)
  await server().kill()
  await server().start({ QDB_CAIRO_COMMIT_MODE: 'sync', QDB_SHARED_WORKER_COUNT: '4' })
  onTestFinished(async () => {
    await server().kill()
    await server().start()
  })
  const found = await doctor(prefix)
  expect(lineOf(found, 'commit mode')).toBe('ok       commit mode: sync')
  expect(lineOf(found, 'workers')).toBe('ok       workers: 4 for HTTP')
  expect(found.code).toBe(0)
})

test('parked rows are a warning with their number and the statement that shows them', async () => {
  const { prefix } = await openInTest(server())
  await server().exec(`INSERT INTO ${prefix}parked VALUES (0, 'writer', 'a reason', 'a line')`)
  await expect
    .poll(async () => lineOf(await doctor(prefix), 'parked rows'), untilApplied)
    .toMatch(new RegExp(`^warning .*1 rows were refused.*SELECT \\* FROM '${prefix}parked'`))
})

test('a suspended table is WRONG with its reason and the resume statement, and the exit code is 1', async () => {
  const prefix = await withNewestBar(-60)
  const table = `${prefix}bars_brokera_zero_h1`
  await server().exec(`ALTER TABLE ${table} SUSPEND WAL WITH 'DISK FULL', 'no space left'`)
  await expect
    .poll(async () => lineOf(await doctor(prefix), 'suspended table'), untilApplied)
    .toMatch(new RegExp(`^WRONG +suspended table: ${table} .*DISK FULL.*RESUME WAL`))
  expect((await doctor(prefix)).code).toBe(1)
  await server().exec(`ALTER TABLE ${table} RESUME WAL`)
  await expect.poll(async () => (await doctor(prefix)).code, untilApplied).toBe(0)
})

test('a table with bars on another clock than that of its feed is WRONG', async () => {
  const found = await doctor(await withNewestBar(3 * hourSeconds))
  expect(found.code).toBe(1)
  expect(lineOf(found, 'clock')).toMatch(/^WRONG .*bars_brokera_zero_h1 is 3 hours ahead.*BROKERA:ZERO/)
})

test('a table of minutes without a new bar for weeks is a warning', async () => {
  const found = await doctor(await withNewestBar(-30 * 24 * hourSeconds, '1'))
  expect(found.code).toBe(0)
  expect(lineOf(found, 'clock')).toMatch(/^warning .*_m1_.* 30 days behind/)
})

test('a schema of a newer fxd is WRONG, a missing schema is a warning, and doctor makes no tables', async () => {
  const { prefix } = await openInTest(server())
  await server().exec(`INSERT INTO ${prefix}schema VALUES (0, ${schemaVersion + 1})`)
  await expect
    .poll(async () => lineOf(await doctor(prefix), 'schema'), untilApplied)
    .toMatch(new RegExp(`^WRONG .*version ${schemaVersion + 1}.*start the newer fxd`))
  const none = await doctor('nobody_')
  expect(none.code).toBe(0)
  expect(lineOf(none, 'schema')).toMatch(/^warning .*nobody_schema/)
  const tables = (await server().exec('SELECT table_name FROM tables()')).flat()
  expect(tables.filter((table) => String(table).startsWith('nobody_'))).toEqual([])
})

test('an empty table, for which QuestDB returns no newest row, is not a fault', async () => {
  const prefix = await withNewestBar(-60)
  await server().exec(`TRUNCATE TABLE ${prefix}bars_brokera_zero_h1`)
  await expect
    .poll(async () => lineOf(await doctor(prefix), 'clocks'), untilApplied)
    .toMatch(/^ok +clocks: 0 of 0 /)
})

test('an unavailable server is WRONG with the variable to set, for HTTP and for Postgres', async () => {
  const http = await doctor('p_', { FXD_QUESTDB_HTTP: await nowhere() })
  expect(http.code).toBe(1)
  expect(lineOf(http, 'http')).toMatch(/^WRONG .*ECONNREFUSED.*FXD_QUESTDB_HTTP/)
  const pg = await doctor('p_', { FXD_QUESTDB_PG: await nowhere() })
  expect(pg.code).toBe(1)
  expect(lineOf(pg, 'postgres')).toMatch(/^WRONG .*ECONNREFUSED.*FXD_QUESTDB_PG/)
  const password = await doctor('p_', { FXD_QUESTDB_PASSWORD: 'wrong' })
  expect(password.code).toBe(1)
  expect(lineOf(password, 'postgres')).toMatch(/^WRONG .*FXD_QUESTDB_PASSWORD/)
})

test('bars ahead of a measured clock are WRONG; while the clock is not measured, its retention is a warning', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'Measured' }, retention: { '60': '400d' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const now = systemClock.utcMs()
  const time = feedSeconds(Math.floor(toSeconds(now) / 60) * 60)
  await stores.bars.write([batchOf(seriesOf('A', '60', feed), [{ ...minuteBar(0), time }])], 'live')
  const unknown = await doctor(prefix)
  expect(unknown.code).toBe(0)
  expect(lineOf(unknown, 'clocks')).toMatch(/^ok .*the clocks of the others are unknown/)
  expect(lineOf(unknown, 'retention')).toMatch(/^warning .*BROKERA:ZERO keeps everything/)
  const reading = { feed, source: 'Measured', offsetSeconds: 3 * hourSeconds, since: now } as const
  await stores.registry.append(1, [{ kind: 'clock', id: clockReadingId(reading), body: reading }])
  const measured = await doctor(prefix)
  expect(lineOf(measured, 'clock')).toMatch(/^WRONG .*bars_brokera_zero_h1 is 3 hours ahead.*BROKERA:ZERO/)
  expect(lineOf(measured, 'retention')).toContain('nothing about')
})

test('unfinished tables are named with the statement that drops them', async () => {
  const { prefix } = await openInTest(server())
  const draft = `${prefix}draft_${'0'.repeat(16)}`
  await server().exec(createParked(draft))
  const found = await doctor(prefix)
  expect(found.code).toBe(0)
  expect(lineOf(found, 'left-over tables')).toMatch(new RegExp(`^warning .*DROP TABLE '${draft}'`))
  const [row] = await server().exec(`SELECT directoryName FROM tables() WHERE table_name = '${prefix}parked'`)
  await server().kill()
  // The state of a table if QuestDB is killed while making it.
  rmSync(join(server().folder, 'db', String(row?.[0]), 'txn_seq'), { recursive: true })
  await server().start()
  const broken = await doctor(prefix)
  expect(broken.code).toBe(1)
  expect(lineOf(broken, 'half-made table')).toMatch(new RegExp(`^WRONG .*${prefix}parked .*DROP TABLE`))
})

test('--audit warns about days with fewer bars than another resolution requires', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'UTC' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const daySeconds = 24 * hourSeconds
  const first = (Math.floor(toSeconds(systemClock.utcMs()) / daySeconds) - 12) * daySeconds
  const every = (seconds: number) =>
    Array.from({ length: (10 * daySeconds) / seconds }, (_, i) => ({
      ...minuteBar(0),
      time: feedSeconds(first + i * seconds),
    }))
  const [fives, hours] = [seriesOf('A', '5', feed), seriesOf('A', '60', feed)]
  const lost = ({ time }: { time: number }) =>
    time >= first + 5 * daySeconds && time < first + 5.8 * daySeconds
  const kept = every(300).filter((bar) => !lost(bar))
  await stores.bars.write([batchOf(fives, kept), batchOf(hours, every(hourSeconds))], 'backfill')
  const span = { from: feedSeconds(first), to: feedSeconds(first + 10 * daySeconds) }
  await stores.windows.add(
    [fives, hours].map(({ symbol, resolution }) => ({ feed, symbol, resolution, ...span })),
  )
  // 57.6 of 288 bars of 5 minutes are left on that day. The 24 hours require only 23 of them and hide the loss.
  // Bars of 10 minutes show it.
  expect(lineOf(await doctor(prefix, {}, '--audit'), 'audit')).toMatch(/^ok /)
  const tens = seriesOf('A', '10', feed)
  await stores.bars.write([batchOf(tens, every(600))], 'backfill')
  await stores.windows.add([{ feed, symbol: tens.symbol, resolution: '10', ...span }])
  expect(lineOf(await doctor(prefix, {}, '--audit'), 'audit')).toMatch(
    /^warning .*BROKERA:ZERO at 5: 1 day of 1 symbol acknowledged as complete with at least 87 bars fewer/,
  )
})

test('--audit reports a lost partition inside acknowledged windows, and bars outside all windows', async () => {
  const { stores, prefix } = await openInTest(server())
  const definition = defineFeed({ clock: { mode: 'UTC' } })
  await stores.registry.append(0, [{ kind: 'feed', id: feed, body: { definition, hidden: false } }])
  const daySeconds = 24 * hourSeconds
  const noon = Math.floor(toSeconds(systemClock.utcMs()) / daySeconds) * daySeconds - daySeconds / 2
  const days = Array.from({ length: 30 }, (_, i) => noon - (32 - i) * daySeconds)
  const bars = days.map((at) => ({ ...minuteBar(0), time: feedSeconds(at) }))
  const [minutes, hours] = [seriesOf('A', '1', feed), seriesOf('A', '60', feed)]
  await stores.bars.write([batchOf(minutes, bars), batchOf(hours, bars)], 'backfill')
  // A second revision is still one bar.
  await stores.bars.write(
    [batchOf(minutes, [{ ...minuteBar(0, 9), time: feedSeconds(noon - 20 * daySeconds) }])],
    'backfill',
  )
  const span = { from: feedSeconds(noon - 40 * daySeconds), to: feedSeconds(noon) }
  const windowOf = ({ symbol, resolution }: typeof minutes) => ({ feed, symbol, resolution, ...span })
  await stores.windows.add([windowOf(minutes)])
  expect(lineOf(await doctor(prefix), 'audit')).toContain('nothing about audit')
  const unclaimed = await doctor(prefix, {}, '--audit')
  expect(lineOf(unclaimed, 'audit')).toMatch(
    /^warning .*BROKERA:ZERO at 60: 30 days of 1 symbol with bars that no/,
  )
  expect(unclaimed.code).toBe(0)

  await stores.windows.add([windowOf(hours)])
  expect(lineOf(await doctor(prefix, {}, '--audit'), 'audit')).toMatch(
    /^ok .*agree on 60 days of 2 series, 60 bars$/,
  )
  const table = (await server().exec('SELECT table_name FROM tables()'))
    .flat()
    .map(String)
    .filter((name) => name.startsWith(`${prefix}bars_brokera_zero_m1_`))
  const counts = await Promise.all(table.map((name) => server().exec(`SELECT count() FROM ${name}`)))
  const full = table[counts.findIndex(([row]) => Number(row?.[0]) >= 30)]
  const weeks = await server().exec(`SELECT name FROM table_partitions('${full}') WHERE numRows = 7`)
  await server().exec(`ALTER TABLE ${full} DROP PARTITION LIST '${String(weeks[1]?.[0])}'`)
  await expect
    .poll(async () => lineOf(await doctor(prefix, {}, '--audit'), 'audit'), untilApplied)
    .toMatch(
      /^WRONG .*BROKERA:ZERO at 1: 7 days of 1 symbol acknowledged as complete without a bar.*Cure: import/,
    )
  expect((await doctor(prefix, {}, '--audit')).code).toBe(1)
})

test.each([
  ['rest=2,stream=3', /^ok +connections: 64 for reading; these processes and a doctor take up to 57$/],
  [
    'rest=2,stream=4,ingest=2',
    /^warning +connections: 64 .* up to 81\. Cure: raise QDB_PG_NET_CONNECTION_LIMIT/,
  ],
])('the sum of the connections of %s is compared with the limit of the server', async (pods, line) => {
  expect(lineOf(await doctor('fxd_', {}, '--pods', pods), 'connections')).toMatch(line)
})

test('a malformed count of processes is refused', async () => {
  const { code, err } = await doctor('fxd_', {}, '--pods', 'rest=two')
  expect([code, err]).toEqual([64, expect.stringContaining('--pods: got "rest=two"')])
})
