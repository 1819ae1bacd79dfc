import { expect, test } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { planLimits } from '../../../services/core/keys/plan.ts'
import type { RegistryBody } from '../../../services/ports/registry.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'

const server = oneServer()
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
