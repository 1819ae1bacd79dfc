import { describe, expect, onTestFinished, test } from 'vitest'
import { TableOutOfOrder, Unavailable } from '../../../services/core/failure.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { readsWaitingMax } from '../../../services/platform/read-turns.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { PgConnection, SqlError } from '../../../services/stores/questdb/pg/connection.ts'
import { connectionsOf, readConnectionsOf } from '../../../services/stores/questdb/pg/connection-counts.ts'
import { Fields } from '../../../services/stores/questdb/pg/fields.ts'
import { PgPool } from '../../../services/stores/questdb/pg/pool.ts'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { always, batchOf, freshSeries, minuteBar, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const credentials = { user: 'admin', password: 'quest' }
const options = () => ({
  ...server(),
  credentials,
  prefix: 'x_',
  clock: systemClock,
  log: silentLog,
  metrics: createMetrics({ ofProcess: false }),
})
const untilServed = { timeout: 150_000, interval: 50 }
/** Maximum time until a read with a deadline of two seconds fails. */
const readFailureMaxMs = 7_000

/** Number of Postgres connections, from the metrics of the server. */
async function connectionsNow(): Promise<number> {
  const { host, port } = server().ops
  const text = await (await fetch(`http://${host}:${port}/metrics`)).text()
  return Number(/^questdb_pg_wire_connections (\d+)/m.exec(text)?.[1])
}

/** Opens connections until the server accepts no more; returns them. */
async function takeAllConnections(): Promise<readonly PgConnection[]> {
  const [[limit] = []] = await server().exec(
    "SELECT value FROM (SHOW PARAMETERS) WHERE property_path = 'pg.net.connection.limit'",
  )
  const isFull = async (): Promise<boolean> => (await connectionsNow()) >= Number(limit)
  const connections: PgConnection[] = []
  while (!(await isFull())) {
    const { connection, ready } = PgConnection.open(server().pg, credentials, () => undefined)
    connections.push(connection)
    onTestFinished(() => connection.destroy())
    let isReady = false
    void ready.then(() => (isReady = true)).catch(() => undefined)
    // Another client may have got the last connection.
    await expect.poll(async () => isReady || (await isFull()), untilServed).toBe(true)
  }
  expect(connections.length).toBeGreaterThan(0)
  return connections
}

describe('connections for reading', () => {
  test('stay within their bound while 500 concurrent reads are all answered', async () => {
    // A read of ingest waits longest.
    const { stores, metric } = await openInTest(server(), { user: 'ingest' })
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 100))], 'live')
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => stores.bars.read({ series, ...always })),
    )
    expect(answers.every(({ time }) => time.length === 100)).toBe(true)
    expect(await metric('fxd_questdb_connections')).toBeLessThan(connectionsOf('ingest'))
  })

  test('when the server accepts no connection, a read fails within its deadline; it succeeds once connections are free', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 3))], 'live')
    const pool = new PgPool(options(), { connections: readConnectionsOf('all'), waiting: readsWaitingMax })
    const one = () => pool.read({ sql: 'SELECT 1', parameterSets: [[]] }, () => () => undefined)
    const others = await takeAllConnections()
    const startedAt = systemClock.monotonicMs()
    await expect(one()).rejects.toBeInstanceOf(Unavailable)
    expect(systemClock.monotonicMs() - startedAt).toBeLessThan(readFailureMaxMs)
    for (const each of others) each.destroy()
    await expect.poll(() => one().then(() => 'answered', String), untilServed).toBe('answered')
    pool.close()
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 3))
  })

  test('serve client reads before queued backfill reads', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 2_000))], 'backfill')
    let compared = 0
    const backlog = Array.from({ length: 400 }, () =>
      stores.bars.read({ series, ...always, lane: 'backfill' }).then(() => (compared += 1)),
    )
    const asked = await readList(stores.bars, series, { take: { count: 300, end: 'newest' } })
    expect(asked).toEqual(minuteBars(1_700, 2_000))
    expect(compared).toBeLessThan(200)
    await Promise.all(backlog)
  })

  test('keep their prepared statements working when a table is altered, truncated, dropped and made again', async () => {
    const { stores, prefix } = await openInTest(server())
    const table = `${prefix}bars_brokera_zero_h1`
    const series = freshSeries('60')
    const store = async (minute: number): Promise<void> =>
      await expect
        .poll(
          () =>
            stores.bars.write([batchOf(series, [minuteBar(minute)])], 'live').then(
              () => 'stored',
              () => 'failed',
            ),
          untilServed,
        )
        .toBe('stored')
    await store(0)
    expect(await readList(stores.bars, series)).toEqual([minuteBar(0)])
    await server().exec(`ALTER TABLE ${table} ADD COLUMN more DOUBLE`)
    await store(1)
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
    await server().exec(`TRUNCATE TABLE ${table}`)
    await expect.poll(() => readList(stores.bars, series), untilServed).toEqual([])
    await server().exec(`DROP TABLE ${table}`)
    await expect(readList(stores.bars, series)).rejects.toBeInstanceOf(TableOutOfOrder)
    await stores.tables.refill(table)
    expect(await readList(stores.bars, series)).toEqual([])
    await store(2)
    expect(await readList(stores.bars, series)).toEqual([minuteBar(2)])
  })

  test('a read above the bound of the queue is refused at once', async () => {
    const pool = new PgPool(options(), { connections: 1, waiting: 4 })
    const read = () => pool.read({ sql: 'SELECT 1', parameterSets: [[]] }, () => () => undefined)
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, read))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Unavailable)
    pool.close()
    expect(readsWaitingMax).toBeGreaterThan(readConnectionsOf('all'))
  })

  test('a rejected statement fails with the text of the server, and the connection stays usable', async () => {
    const { connection, ready } = PgConnection.open(server().pg, credentials, () => undefined)
    await ready
    const run = (sql: string) => connection.run({ sql, parameterSets: [[]] }, () => undefined)
    await expect(run('SELECT nothing FROM nowhere')).rejects.toThrow(/does not exist/)
    await expect(run('SELECT nothing FROM nowhere')).rejects.toBeInstanceOf(SqlError)
    let one = 0
    await connection.run({ sql: 'SELECT 1::long', parameterSets: [[]] }, (view, at) => {
      one = new Fields(view, at).long()
    })
    expect(one).toBe(1)
    connection.destroy()
  })

  test('several executions of a statement are answered in order in one round trip', async () => {
    const { connection, ready } = PgConnection.open(server().pg, credentials, () => undefined)
    await ready
    const sets = Array.from({ length: 300 }, (_, i) => [String(i)])
    const found: [number, number][] = []
    await connection.run({ sql: 'SELECT $1::long * 2', parameterSets: sets }, (view, at, _, set) => {
      found.push([set, new Fields(view, at).long()])
    })
    expect(found).toEqual(sets.map((_, i) => [i, i * 2]))
    connection.destroy()
  })

  test('a wrong password fails with an error that names the password or the user', async () => {
    const { ready } = PgConnection.open(server().pg, { ...credentials, password: 'wrong' }, () => undefined)
    await expect(ready).rejects.toThrow(/password|authentication|user/i)
  })

  test.each([
    [undefined, 0],
    [true, 1],
  ])(
    'a read after its deadline reports a lost server only with the option `lateIsLost` (%s)',
    async (lateIsLost, lossesWanted) => {
      const proxy = await openTcpProxy(server().pg)
      onTestFinished(() => proxy.close())
      let losses = 0
      const pool = new PgPool(
        { ...options(), pg: proxy },
        { connections: 1, waiting: 4, ...(lateIsLost && { lateIsLost }) },
        { pass: () => Promise.resolve(), lost: () => void losses++ },
      )
      onTestFinished(() => pool.close())
      const one = { sql: 'SELECT 1', parameterSets: [[]] }
      await pool.read(one, () => () => undefined)
      proxy.set({ down: { kind: 'swallow' } })
      await expect(pool.read(one, () => () => undefined, { deadlineMs: 300 })).rejects.toBeInstanceOf(
        Unavailable,
      )
      proxy.set({})
      await pool.read(one, () => () => undefined)
      expect(losses).toBe(lossesWanted)
    },
  )
})

/** Timeout of tests that start a server. */
const longTimeout = { timeout: 400_000 }

describe('an unavailable server', longTimeout, () => {
  test('that is frozen fails reads within their deadline as Unavailable, and answers reads after the freeze', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 3))], 'live')
    await server().freeze()
    const compared = stores.bars.read({ series, ...always, lane: 'backfill' })
    const startedAt = systemClock.monotonicMs()
    const calls = [
      stores.bars.read({ series, ...always }),
      stores.bars.lastTimes(series.feed),
      stores.bars.bounds(series, [always]),
      stores.bars.ping(),
      stores.windows.of(series.feed),
      stores.registry.since(0),
    ]
    const outcomes = await Promise.allSettled(calls)
    server().thaw()
    for (const outcome of outcomes) {
      expect(outcome.status).toBe('rejected')
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Unavailable)
    }
    expect(systemClock.monotonicMs() - startedAt).toBeLessThan(readFailureMaxMs)
    // A backfill read has a longer deadline.
    expect((await compared).time).toHaveLength(3)
    await expect
      .poll(() => readList(stores.bars, series).catch(() => []), { timeout: 20_000 })
      .toEqual(minuteBars(0, 3))
  })

  test('that was killed fails reads at once, and answers reads after its start', async () => {
    const { stores } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, minuteBars(0, 3))], 'live')
    await server().kill()
    await expect(stores.bars.read({ series, ...always })).rejects.toBeInstanceOf(Unavailable)
    await expect(stores.bars.ping()).rejects.toBeInstanceOf(Unavailable)
    await server().start()
    // The first read checks the whole layout.
    await expect
      .poll(() => readList(stores.bars, series).catch(() => []), untilServed)
      .toEqual(minuteBars(0, 3))
  })
})
