import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { oneServer } from '../../support/questdb/one-server.ts'
import type { Reading } from '../checks/check-history.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { Market, manifest, symbols } from '../support/market.ts'
import { Poller } from '../support/poller.ts'
import { expectNothingLost, flows } from '../support/quiet.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const prefix = 'sus_'
const pollOptions = { timeout: 150_000, interval: 100 }
/** Minimum time for which the table is suspended: longer than any deadline of ingest. */
const suspendedMsMin = 40_000

const tables = async (): Promise<string[]> => {
  const rows = await server().exec(`SELECT table_name FROM tables() WHERE table_name LIKE '${prefix}bars_%'`)
  return rows.map(([table]) => String(table))
}

/** Name of the table with the bars of a symbol. */
async function tableOf(symbol: string): Promise<string> {
  for (const table of await tables()) {
    const [row] = await server().exec(`SELECT count() FROM '${table}' WHERE sym = '${symbol}'`)
    if (Number(row?.[0]) > 0) return table
  }
  throw new Error(`there is no table with ${symbol}`)
}

/** Suspends a table. QuestDB may undo it while it applies rows, so this repeats until the state stays. */
async function suspend(table: string): Promise<void> {
  const query = `SELECT table_suspended FROM tables() WHERE table_name = '${table}'`
  for (let seen = 0; seen < 5; await pause(100)) {
    const [row] = await server().exec(query)
    seen = row?.[0] === true ? seen + 1 : 0
    if (seen === 0) await server().exec(`ALTER TABLE '${table}' SUSPEND WAL`)
  }
}

/** Whether QuestDB itself shows a reading now, or a later revision of it. */
async function isShown({ symbol, bar }: Reading): Promise<boolean> {
  for (const table of await tables()) {
    const [row] = await server().exec(
      `SELECT max(rev), count() FROM '${table}' WHERE sym = '${symbol}' AND ts = ${bar.time * 1_000_000}::timestamp`,
    )
    if (Number(row?.[0] ?? 0) >= bar.revision) return true
  }
  return false
}

test('while a table is suspended no live bar of it is acknowledged and no session ends; after it is resumed every acknowledged bar is visible', {
  timeout: 400_000,
}, async () => {
  const { random, seed } = seeded()
  const market = new Market(random)
  const fxd = await FxdProcess.start({ ...server(), prefix, manifests: [manifest] })
  await fxd.takeKey()
  const unseen: Reading[] = []
  // A live bar is acknowledged at its commit, and shown later.
  const live = new Feeder({ ingest: fxd, mode: 'LIVE', next: () => market.live() }).start()
  const history = new Feeder({
    ingest: fxd,
    mode: 'IMPORT',
    next: () => market.history(),
    onAck: async (readings) => {
      const last = readings.at(-1)
      if (last !== undefined && !(await isShown(last))) unseen.push(last)
    },
  }).start()
  const feeders = [live, history]
  await flows(feeders, 10)

  const suspended = await tableOf(symbols[0])
  await suspend(suspended)
  await expect.poll(() => fxd.metric('fxd_questdb_suspended_tables'), pollOptions).toBe(1)
  await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('degraded')
  const ackedBefore = live.ackedBatches
  const poller = new Poller(fxd)
  await pause(suspendedMsMin)
  expect(await poller.stop()).toEqual([])
  expect([...poller.statuses]).toEqual(['degraded'])
  expect(await fxd.doctor()).toContain(`run: ALTER TABLE '${suspended}' RESUME WAL`)

  // Every live batch has a bar for the suspended table.
  expect(live.ackedBatches).toBe(ackedBefore)
  expect(feeders.map(({ broken }) => broken)).toEqual([0, 0])

  await server().exec(`ALTER TABLE '${suspended}' RESUME WAL`)
  await flows(feeders, 10)
  await expect.poll(() => fxd.platformStatus(), pollOptions).toBe('ok')
  expect(await fxd.metric('fxd_questdb_suspended_tables')).toBe(0)
  await expectNothingLost(feeders, market, [fxd], `FXD_TEST_SEED=${seed}`)
  expect(unseen).toEqual([])
})
