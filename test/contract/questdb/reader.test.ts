import { afterAll, beforeAll, expect, test } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { pgQueries } from '../../../services/stores/questdb/pg/queries.ts'
import { freePorts } from '../../support/free-ports.ts'
import { type QuestdbServer, startQuestdb } from '../../support/questdb/server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBar, readList } from '../suites/sample-bars.ts'

const credentials = { user: 'reader', password: 'reads-only' }
let server: QuestdbServer
/** The server as readers reach it, without the HTTP port. */
let reading: Pick<QuestdbServer, 'http' | 'pg'>
beforeAll(async () => {
  server = await startQuestdb({
    startsQuickly: true,
    settings: {
      QDB_PG_READONLY_USER_ENABLED: 'true',
      QDB_PG_READONLY_USER: credentials.user,
      QDB_PG_READONLY_PASSWORD: credentials.password,
    },
  })
  const [nowhere = 0] = await freePorts(1)
  reading = { http: { host: '127.0.0.1', port: nowhere }, pg: server.pg }
}, 180_000)
afterAll(() => server.stop())

test.each(['rest', 'stream'] as const)(
  'fxd %s reads bars and registry as a read-only user, without the HTTP port',
  async (user) => {
    const { stores, prefix } = await openInTest(server)
    const series = freshSeries()
    await stores.bars.write([batchOf(series, [minuteBar(1), minuteBar(2)])], 'live')
    const reader = await openInTest(reading, { prefix, credentials, user })
    expect(await readList(reader.stores.bars, series)).toHaveLength(2)
    expect(await reader.stores.registry.since(0)).toEqual(await stores.registry.since(0))
    await reader.stores.bars.ping()
  },
)

test('a read-only user cannot change anything', async () => {
  const { prefix } = await openInTest(server)
  const queries = pgQueries({ pg: server.pg, credentials, clock: systemClock })
  const tables = (await queries.exec('SELECT table_name FROM all_tables()')).flat()
  expect(tables).toContain(`${prefix}schema`)
  for (const statement of [
    `DROP TABLE '${prefix}schema'`,
    `INSERT INTO '${prefix}schema' (ts, version) VALUES (0, 99)`,
  ])
    await expect(queries.exec(statement)).rejects.toBeInstanceOf(Unavailable)
  expect((await queries.exec('SELECT table_name FROM all_tables()')).flat()).toEqual(tables)
  queries.close()
})
