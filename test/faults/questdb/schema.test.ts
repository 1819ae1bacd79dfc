import { expect, test } from 'vitest'
import { schemaVersion } from '../../../services/stores/questdb/layout/migrate.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest } from '../support/market.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const prefix = 'twice_'

test('two processes that start at once on an empty QuestDB create one schema and one registry, and both work', {
  timeout: 400_000,
}, async () => {
  const { random, seed } = seeded()
  const options = { ...server(), prefix, manifests: [manifest] }
  const [a, b] = await Promise.all([FxdProcess.start(options), FxdProcess.start(options)])
  const versions = await server().exec(`SELECT version, count() FROM ${prefix}schema ORDER BY version`)
  expect(versions).toEqual(Array.from({ length: schemaVersion }, (_, i) => [i + 1, 1]))
  const tables = (await server().exec('SELECT table_name FROM tables()')).flat().map(String)
  expect(tables.filter((table) => table.startsWith(prefix)).sort()).toEqual(
    ['registry', 'schema', 'tables', 'usage_days'].map((name) => `${prefix}${name}`),
  )

  await a.takeKey()
  await b.takeKey(a)
  await expect.poll(async () => (await b.get('/v1/symbols')).status, { timeout: 20_000 }).toBe(200)
  expect((await b.get('/v1/symbols')).body).toEqual((await a.get('/v1/symbols')).body)
  const market = new Market(random)
  const feeders = [a, b].map((ingest) =>
    new Feeder({ ingest, mode: 'IMPORT', next: () => market.history() }).start(),
  )
  await flows(feeders, 3)
  await expectNothingLost(feeders, market, [a, b], `FXD_TEST_SEED=${seed}`)
})
