import { appendFile, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { ExportFiles } from './export-files.ts'

test('a file that was found without a bar is added when it grows within the same modification time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-exports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'GBPUSD_M1.csv')
  const tick = new Date(Date.UTC(2026, 0, 7))
  await writeFile(path, '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n')
  await utimes(path, tick, tick)
  const definition = defineFeed({ symbols: { list: [] } })
  const clock = createVirtualClock()
  const files = new ExportFiles({ definition, path: folder, follow: true, clock, log: silentLog })
  expect(await files.addNew()).toEqual([])
  await appendFile(path, '2026.01.06\t12:00:00\t1.1\t1.1\t1.1\t1.1\t1\r\n')
  await utimes(path, tick, tick)
  expect(await files.addNew()).toEqual([{ raw: 'GBPUSD', resolution: '1' }])
})
