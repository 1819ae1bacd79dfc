import { appendFile, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createLog, silentLog } from '../../../platform/log/log.ts'
import { ExportFiles } from './export-files.ts'

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\r\n'
const line = '2026.01.06\t12:00:00\t1.1\t1.1\t1.1\t1.1\t1\r\n'

interface Logged {
  readonly file: string
  readonly msg: string
}

/** A log whose lines are added to the list. */
const logTo = (lines: Logged[]) =>
  createLog('warn', { write: (text: string) => void lines.push(JSON.parse(text) as Logged) })

async function openFiles(log = silentLog, list: readonly object[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'fxd-exports-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const definition = defineFeed({ symbols: { list } })
  const files = new ExportFiles({ definition, path: folder, now: () => undefined, follow: true, log })
  return { folder, files }
}

test('a file that was found without a bar is added when it grows within the same modification time', async () => {
  const { folder, files } = await openFiles()
  const path = join(folder, 'GBPUSD_M1.csv')
  const tick = new Date(Date.UTC(2026, 0, 7))
  await writeFile(path, header)
  await utimes(path, tick, tick)
  expect(await files.refresh()).toEqual([])
  await appendFile(path, line)
  await utimes(path, tick, tick)
  expect(await files.refresh()).toEqual([{ raw: 'GBPUSD', resolution: '1' }])
})

test('a file with the raw name of the manifest is read, one with its clean name is refused', async () => {
  const logged: Logged[] = []
  const raw = 'Volatility 75 Index'
  const { folder, files } = await openFiles(logTo(logged), [{ raw, name: 'VOL75', type: 'index', digits: 2 }])
  await writeFile(join(folder, `${raw}_M1.csv`), header + line)
  await writeFile(join(folder, 'VOL75_M1.csv'), header + line)
  expect(await files.refresh()).toEqual([{ raw, resolution: '1' }])
  const why = `the manifest lists ${raw}, not VOL75; name the file ${raw}_M1.csv`
  expect(logged).toMatchObject([{ msg: 'file not read', file: join(folder, 'VOL75_M1.csv'), why }])
  expect(logged).toHaveLength(1)
})

test('a file that is renamed repeatedly is known by its newest name only', async () => {
  const { folder, files } = await openFiles()
  const series = { raw: 'GBPUSD', resolution: '1' } as const
  const path = (name: string | number): string => join(folder, `GBPUSD_${name}.csv`)
  await writeFile(path('H1'), header + line)
  await writeFile(path('M1_0'), header + line)
  await files.refresh()
  for (let i = 1; i <= 3; i++) {
    await rename(path(`M1_${i - 1}`), path(`M1_${i}`))
    expect(await files.refresh()).toEqual([series])
    expect(files.index.of(series).map((file) => file.path)).toEqual([path(`M1_${i}`)])
    expect([files.index.all().length, files.index.named('GBPUSD_M1_0.csv')]).toEqual([2, undefined])
  }
  await rm(path('M1_3'))
  expect(await files.refresh()).toEqual([])
  expect(files.symbols([series])).toMatchObject([{ raw: 'GBPUSD', digits: 1, resolutions: ['60'] }])
})

test('a single line with more decimals than all others is logged once, since it does not decide the digits', async () => {
  const logged: Logged[] = []
  const { folder, files } = await openFiles(logTo(logged))
  const path = join(folder, 'GBPUSD_M1.csv')
  await writeFile(path, header + line + line.replace('\t1.1\t', '\t1.101\t') + line)
  for (let i = 0; i < 2; i++) await files.refresh()
  const msg = 'one line alone has more decimals and does not decide the digits; set them in spec.symbols.list'
  expect(logged).toMatchObject([{ msg, file: path, line: 3, decimals: 3, digits: 1 }])
})

test('a file whose lines are all bad is logged once per content by its name; one with a single line is not', async () => {
  const logged: Logged[] = []
  const { folder, files } = await openFiles(logTo(logged))
  const path = join(folder, 'GBPUSD_M1.csv')
  await writeFile(join(folder, 'EURUSD_M1.csv'), header)
  const bad = line.replace('\t1.1\t', '\t1,1\t')
  await writeFile(path, header + bad)
  await files.refresh()
  await appendFile(path, bad)
  for (let i = 0; i < 2; i++) expect(await files.refresh()).toEqual([])
  await appendFile(path, bad)
  await files.refresh()
  const msg = 'none of the first lines is a bar; ignored until the file changes'
  expect(logged).toMatchObject([2, 3].map((badLines) => ({ msg, file: path, badLines })))
  expect(JSON.stringify(logged)).not.toContain('1,1')
  await appendFile(path, line)
  expect(await files.refresh()).toEqual([{ raw: 'GBPUSD', resolution: '1' }])
})
