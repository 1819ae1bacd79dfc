import { expect, test } from 'vitest'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openInTest } from '../../support/questdb/stores.ts'
import { batchOf, freshSeries, minuteBars, readList } from '../suites/sample-bars.ts'

const server = oneServer()
const reads = 4
const untilRead = { timeout: 60_000, interval: 100 }

test('connections that have read a table can read it after a column changed its type', {
  timeout: 180_000,
}, async () => {
  const { stores, prefix } = await openInTest(server())
  const series = freshSeries('60')
  const bars = minuteBars(0, 10)
  await stores.bars.write([batchOf(series, bars)], 'live')
  const readTogether = () => Promise.all(Array.from({ length: reads }, () => readList(stores.bars, series)))
  await readTogether()
  const table = `${prefix}bars_brokera_zero_h1`
  await server().exec(`ALTER TABLE ${table} ALTER COLUMN v TYPE INT`)
  await server().exec(`SELECT wait_wal_table('${table}')`)
  await expect.poll(readTogether, untilRead).toEqual(Array.from({ length: reads }, () => bars))
})
