import { describe, expect, test } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { planLimits } from '../../../services/core/keys/plan.ts'
import type { RegistryBody } from '../../../services/ports/registry.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'

const server = oneServer()
const exec = (sql: string) => server().exec(sql)
const untilApplied = { timeout: 20_000, interval: 100 }

function keyRow(id: string): RegistryBody {
  const body = {
    id,
    name: 'a key',
    prefix: 'fxd_0123',
    secrets: [],
    plan: 'pro' as const,
    limits: planLimits.pro,
    feeds: [],
    allowIps: [],
    revoked: false,
    createdAt: utcMs(1_767_000_000_123),
  }
  return { kind: 'key', id, body }
}

const rowsIn = async (table: string): Promise<number> =>
  Number((await server().exec(`SELECT count() FROM '${table}' WHERE ts IS NOT NULL`))[0]?.[0])

test('a registry change that was sent twice is read once, with all later changes, also by a new process', async () => {
  const { stores, prefix } = await openInTest(server())
  const table = `${prefix}registry`
  const sendAgain = async (basedOn: number, upToPosition: number): Promise<void> => {
    const before = await rowsIn(table)
    const repeated = `FROM '${table}' WHERE ts = ${basedOn}::timestamp AND position < ${upToPosition}`
    const count = Number((await server().exec(`SELECT count() ${repeated}`))[0]?.[0])
    await server().exec(`INSERT INTO '${table}' SELECT * ${repeated}`)
    await expect.poll(() => rowsIn(table), untilApplied).toBe(before + count)
  }
  await stores.registry.append(0, [keyRow('a'), keyRow('b'), keyRow('c')])
  await sendAgain(0, 3)
  await stores.registry.append(3, [keyRow('d')])
  await sendAgain(3, 1)
  await sendAgain(3, 1)
  await stores.registry.append(4, [keyRow('e'), keyRow('a')])
  const read = await stores.registry.since(0)
  expect(read.map(({ id, version }) => `${id}${version}`)).toEqual(['b2', 'c3', 'd4', 'e5', 'a6'])

  const next = (await openInTest(server(), { prefix })).stores.registry
  expect(await next.since(0)).toEqual(read)
  expect(await next.append(6, [keyRow('f')])).toEqual({ outcome: 'stored', version: 7 })
  expect((await stores.registry.since(6)).map(({ id }) => id)).toEqual(['f'])
})

describe('a running process whose registry became an older copy', () => {
  /** Two changes, of which the copy has the first. */
  async function withCopy() {
    const { stores, prefix } = await openInTest(server())
    const [table, copy] = [`${prefix}registry`, `${prefix}copy`]
    await stores.registry.append(0, [keyRow('a')])
    await exec(`CREATE TABLE '${copy}' AS (SELECT * FROM '${table}') TIMESTAMP(ts) PARTITION BY YEAR WAL`)
    await exec(`SELECT wait_wal_table('${copy}')`)
    await stores.registry.append(1, [keyRow('b')])
    return { stores, prefix, table, copy, before: stores.registry.generation }
  }

  /** What each process stores, all others read. */
  async function expectOlder({
    stores,
    prefix,
    before,
  }: Awaited<ReturnType<typeof withCopy>>): Promise<void> {
    const ids = async () => (await stores.registry.since(0)).map(({ id }) => id)
    await expect.poll(() => ids().catch(String), untilApplied).toEqual(['a'])
    expect(stores.registry.generation).not.toBe(before)
    expect(await stores.registry.append(2, [keyRow('c')])).toEqual({ outcome: 'conflict' })
    // A connection that knew the table before fails once.
    const store = () => stores.registry.append(1, [keyRow('c')]).then(ids, ids)
    await expect.poll(store, untilApplied).toEqual(['a', 'c'])
    const later = (await openInTest(server(), { prefix })).stores.registry
    expect((await later.since(0)).map(({ id, version }) => `${id}${version}`)).toEqual(['a1', 'c2'])
  }

  test('reads it from the start once a person has accepted the copy', async () => {
    const opened = await withCopy()
    const { stores, table, copy } = opened
    await exec(`DROP TABLE '${table}'`)
    await exec(`RENAME TABLE '${copy}' TO '${table}'`)
    await expect
      .poll(() => stores.tables.list(), untilApplied)
      .toContainEqual(expect.objectContaining({ name: table, state: 'replaced' }))
    await stores.tables.accept([table])
    await expectOlder(opened)
  })

  test('reads it from the start once it connects again', async () => {
    const opened = await withCopy()
    const { table, copy } = opened
    await exec(`TRUNCATE TABLE '${table}'`)
    await exec(`INSERT INTO '${table}' SELECT * FROM '${copy}'`)
    await expect.poll(() => rowsIn(table), untilApplied).toBe(1)
    await server().kill()
    await server().start()
    await expectOlder(opened)
  })

  test('reads the same registry on, with its generation, when it connects again', async () => {
    const { stores, before } = await withCopy()
    await server().kill()
    await server().start()
    const ids = async () => (await stores.registry.since(0)).map(({ id }) => id)
    await expect.poll(() => ids().catch(String), untilApplied).toEqual(['a', 'b'])
    expect(await stores.registry.append(2, [keyRow('c')])).toEqual({ outcome: 'stored', version: 3 })
    expect(stores.registry.generation).toBe(before)
  })
})
