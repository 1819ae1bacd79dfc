import { expect, test } from 'vitest'
import { memoryMaps } from '../../../services/stores/questdb/server/memory-maps.ts'
import { withNewestBar } from '../../support/questdb/doctor.ts'
import { oneServer } from '../../support/questdb/one-server.ts'

const server = oneServer()

test('the disk space of a server with a bar is the sum of the sizes of its tables', async () => {
  await withNewestBar(server(), -60, '1')
  const exec = (sql: string) => server().exec(sql)
  const sizes = async () => {
    const [row] = await exec('SELECT sum(diskSize) FROM table_storage()')
    return Number(row?.[0])
  }
  const read = () => memoryMaps({ exec, warnings: async () => [], ping: async () => undefined })
  await expect
    .poll(async () => (await read()).diskBytes - (await sizes()), { timeout: 20_000, interval: 100 })
    .toBe(0)
  expect((await read()).diskBytes).toBeGreaterThan(4_096)
})
