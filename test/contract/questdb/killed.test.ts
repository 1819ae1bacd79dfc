import { expect, onTestFinished, test } from 'vitest'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { administration } from '../../../services/stores/questdb/exec.ts'
import { createBars } from '../../../services/stores/questdb/layout/statements.ts'
import { TableRecords } from '../../../services/stores/questdb/layout/table-records.ts'
import { TableNames } from '../../../services/stores/questdb/layout/tables.ts'
import { PgPool } from '../../../services/stores/questdb/pg/pool.ts'
import { Visibility } from '../../../services/stores/questdb/write/visibility.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { freshName } from '../suites/opened.ts'

const server = oneServer()
const credentials = { user: 'admin', password: 'quest' }
const feed = feedKey('BROKERA', 'ZERO')
const dayMicros = 86_400 * 1e6
const tableCount = 16
const transactions = 4
const days = 10

function openVisibility(names: TableNames): Visibility {
  const { http, pg } = server()
  const metrics = createMetrics({ ofProcess: false })
  const options = { http, pg, credentials, prefix: '', clock: systemClock, log: silentLog, metrics }
  const pool = new PgPool(options, { connections: 1, waiting: 16 })
  const records = new TableRecords({
    names,
    queries: administration(options),
    clock: systemClock,
    log: silentLog,
  })
  const visibility = new Visibility({ clock: options.clock, names, pool, records })
  onTestFinished(() => {
    visibility.close()
    pool.close()
  })
  return visibility
}

/** Commits rows of many days. Each day is a partition, so applying the rows is slow. */
async function commit(table: string): Promise<void> {
  const { host, port } = server().http
  for (let i = 0; i < transactions; i++) {
    const rows = Array.from(
      { length: days },
      (_, day) => `${table},sym=A rev=1i,taken=1i,o=1,h=1,l=1,c=1,v=1i ${(i * days + day) * dayMicros}\n`,
    )
    const url = `http://${host}:${port}/write?precision=u`
    const answer = await fetch(url, { method: 'POST', body: rows.join('') })
    expect(answer.status).toBe(204)
  }
}

/** Waits again after each deadline, since the server may need longer to start. */
async function untilReadable(visibility: Visibility, tables: readonly string[]): Promise<void> {
  await visibility.wait(tables).catch(() => untilReadable(visibility, tables))
}

test('after a restart of QuestDB, rows that were committed but not applied count as readable only once they are applied', {
  timeout: 400_000,
}, async () => {
  const names = new TableNames(`${freshName('r').toLowerCase()}_`)
  const tables = Array.from({ length: tableCount }, (_, i) => names.bars(feed, '1', i, tableCount))
  for (const table of tables) {
    await server().exec(createBars(table, '1', undefined).replace('PARTITION BY WEEK', 'PARTITION BY DAY'))
    await commit(table)
  }
  const visibility = openVisibility(names)
  await server().kill()
  const starting = server().start()
  await untilReadable(visibility, tables)
  const counts = tables.map(async (table) => (await server().exec(`SELECT count() FROM ${table}`))[0]?.[0])
  expect(await Promise.all(counts)).toEqual(tables.map(() => transactions * days))
  await starting
})
