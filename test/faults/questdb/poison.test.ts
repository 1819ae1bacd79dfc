import { expect, test } from 'vitest'
import type { RevisedBar } from '../../../services/core/bars/bar.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { checkHistory } from '../checks/check-history.ts'
import { Feeder } from '../support/feeder.ts'
import { FxdProcess } from '../support/fxd-process.ts'
import { type Batch, Market, manifest } from '../support/market.ts'
import { flows } from '../support/quiet.ts'
import { readHistory } from '../support/read-history.ts'
import { seeded } from '../support/seeded.ts'

const server = oneServer()
const prefix = 'poison_'
/** Volume that the changed column rejects. */
const poisonVolume = 70_000
const shortMax = 32_767

/** Makes all volumes fit the changed column, except one bar in `every`. */
function poison(batch: Batch, every: number, poisoned: Set<RevisedBar>): Batch {
  return new Map(
    [...batch].map(([symbol, bars]) => [
      symbol,
      bars.map((bar, i) => {
        const isPoison = i % every === every - 1
        const changed = { ...bar, volume: isPoison ? poisonVolume + i : bar.volume % shortMax }
        if (isPoison) poisoned.add(changed)
        return changed
      }),
    ]),
  )
}

test('rows that QuestDB rejects after a column was altered are parked with an alarm; the good rows beside them are stored', {
  timeout: 300_000,
}, async () => {
  const { random, seed } = seeded()
  const market = new Market(random)
  const fxd = await FxdProcess.start({ ...server(), prefix, manifests: [manifest] })
  await fxd.takeKey()
  const poisoned = new Set<RevisedBar>()
  let every = Number.POSITIVE_INFINITY
  const next = (): Batch => poison(market.historyOfAll(200), every, poisoned)
  const history = new Feeder({ ingest: fxd, mode: 'IMPORT', next, depth: 1 }).start()
  await flows([history], 4)

  const tables = await server().exec(
    `SELECT table_name FROM tables() WHERE table_name LIKE '${prefix}bars_%'`,
  )
  for (const [table] of tables)
    await server().exec(`ALTER TABLE '${String(table)}' ALTER COLUMN v TYPE SHORT`)
  // Rows in transit are converted to the new type, with loss of digits.
  await flows([history], 2)
  every = 90
  await flows([history], 4)
  every = Number.POSITIVE_INFINITY
  await flows([history], 2)
  await history.stop()

  expect(poisoned.size).toBeGreaterThan(0)
  const parked = await server().exec(`SELECT reason, line FROM ${prefix}parked`)
  expect(parked).toHaveLength(poisoned.size)
  expect(await fxd.metric('fxd_questdb_parked_rows_total')).toBe(poisoned.size)
  expect(fxd.log).toContain('QuestDB rejected rows; they are parked')
  expect(await fxd.doctor()).toContain(`${poisoned.size} rows were rejected by QuestDB`)
  const volumes = parked.map(([, line]) => {
    const text = Buffer.from(String(line), 'base64').toString('latin1')
    return Number(/[ ,]v=(\d+)i/.exec(text)?.[1])
  })
  const inOrder = (numbers: readonly number[]): number[] => [...numbers].sort((a, b) => a - b)
  expect(inOrder(volumes)).toEqual(inOrder([...poisoned].map(({ volume }) => volume)))
  const good = history.readings.filter(({ bar }) => !poisoned.has(bar))
  expect(checkHistory(good, await readHistory(fxd, market, '1')), `FXD_TEST_SEED=${seed}`).toEqual([])
})
