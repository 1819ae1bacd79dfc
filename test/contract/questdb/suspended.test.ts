import { describe, expect, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { administration } from '../../../services/stores/questdb/exec.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const h1 = (prefix: string): string => `${prefix}bars_brokera_zero_h1`
const untilServed = { timeout: 150_000, interval: 50 }

/** Suspends a table and waits until the server reports it as suspended. */
async function suspend(at: QuestdbServer, table: string, reason = ''): Promise<void> {
  await at.exec(`ALTER TABLE ${table} SUSPEND WAL ${reason}`)
  await expect
    .poll(
      async () =>
        (await at.exec(`SELECT table_suspended FROM tables() WHERE table_name = '${table}'`))[0]?.[0],
    )
    .toBe(true)
}

describe('a suspended table', () => {
  test('fails the ping and holds its writes until it is resumed; other tables are written', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const [series, other] = [freshSeries('60'), freshSeries('240')]
    await stores.bars.write([batchOf(series, [minuteBar(0)]), batchOf(other, [minuteBar(0)])], 'live')
    await suspend(server(), h1(prefix))
    await expect.poll(() => metric('fxd_questdb_suspended_tables'), untilServed).toBe(1)
    await expect(stores.bars.ping()).rejects.toBeInstanceOf(Unavailable)
    let isStored = false
    const both = [batchOf(series, [minuteBar(1)]), batchOf(other, [minuteBar(1)])]
    const waiting = stores.bars.write(both, 'live').then(() => (isStored = true))
    const hidden = new AbortController()
    const dropped = stores.bars.write([batchOf(series, [minuteBar(9)])], 'live', { signal: hidden.signal })
    await expect.poll(() => readList(stores.bars, other), untilServed).toEqual(minuteBars(0, 2))
    await stores.bars.write([batchOf(other, [minuteBar(2)])], 'live')
    expect(isStored).toBe(false)
    expect([...stores.bars.waitingBytes().keys()]).toEqual([series.feed])
    hidden.abort(new Error('hidden'))
    await expect(dropped).rejects.toThrow('hidden')
    await server().exec(`ALTER TABLE ${h1(prefix)} RESUME WAL`)
    await waiting
    await expect.poll(() => stores.bars.ping().then(() => 'fine', String), untilServed).toBe('fine')
    expect(await readList(stores.bars, series)).toEqual(minuteBars(0, 2))
    expect(await readList(stores.bars, other)).toEqual(minuteBars(0, 3))
    expect(stores.bars.waitingBytes().size).toBe(0)
  })

  test('that QuestDB suspended itself is resumed automatically, also without rows for it', {
    timeout: 90_000,
  }, async () => {
    const { stores, prefix, metric } = await openInTest(server())
    await suspend(server(), `${prefix}registry`, `WITH 'DISK FULL', 'as if there were no space left'`)
    await expect.poll(() => metric('fxd_questdb_suspended_tables'), untilServed).toBe(1)
    await expect.poll(() => metric('fxd_questdb_suspended_tables'), untilServed).toBe(0)
    expect(await metric('fxd_questdb_resumes_total')).toBe(1)
    await stores.bars.ping()
  })

  test('is counted by the state of the tables: the count of the server is wrong after a healthy table was resumed', async () => {
    const { stores, prefix, metric } = await openInTest(server())
    const series = freshSeries('60')
    await stores.bars.write([batchOf(series, [minuteBar(0)])], 'live')
    await server().exec(`ALTER TABLE ${h1(prefix)} RESUME WAL`)
    await stores.bars.write([batchOf(series, [minuteBar(1)])], 'live')
    await stores.bars.ping()
    expect(await metric('fxd_questdb_suspended_tables')).toBe(0)
  })
})

describe('administration', () => {
  const admin = () =>
    administration({
      http: server().http,
      credentials: { user: 'admin', password: 'quest' },
      clock: systemClock,
    })

  test('a statement that fails after the status 200 was sent is an error', async () => {
    const table = 'failing_late'
    await server().exec(`CREATE TABLE ${table} (ts TIMESTAMP) TIMESTAMP(ts) PARTITION BY DAY WAL`)
    await suspend(server(), table)
    await server().exec(`INSERT INTO ${table} VALUES (0)`)
    await expect(admin().exec(`SELECT wait_wal_table('${table}')`)).rejects.toThrow(/suspended/)
    await server().exec(`DROP TABLE ${table}`)
  })

  test('a rejected statement fails with the text of the server, and two statements in one are rejected', async () => {
    await expect(admin().exec('SELECT nothing FROM nowhere')).rejects.toThrow(/does not exist/)
    await expect(admin().exec('SELECT 1; DROP TABLE nowhere')).rejects.toThrow(/unexpected token/)
  })
})
