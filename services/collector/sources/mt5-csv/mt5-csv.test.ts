import { appendFile, copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type ExportFolder,
  everything,
  feedMinute,
  header,
  line,
  minutesOf,
  openExportFolder,
  writeAt,
} from '../../../../test/support/fixtures/export-folder-fixture.ts'
import { type RevisedBar, toList } from '../../../core/bars/bar.ts'

let exports: ExportFolder
let folder: string
beforeEach(async () => {
  exports = await openExportFolder()
  folder = exports.folder
})
afterEach(() => exports.close())

test('a real export is read completely, with one window from its first open to its last end', async () => {
  await copyFile(
    join(import.meta.dirname, '../../../../test/data/BTCUSD_M1_201311.csv'),
    join(folder, 'BTCUSD_M1_201311.csv'),
  )
  const { read, reported } = await exports.open()
  expect(reported.symbols).toEqual([{ raw: 'BTCUSD', digits: 2, resolutions: ['1'] }])
  const { bars, complete } = await read('BTCUSD', '1')
  expect(bars).toHaveLength(9_399)
  const last = bars.at(-1) as RevisedBar
  expect(complete).toEqual([{ from: bars[0]?.time, to: last.time + 60 }])
})

test("a real export of days without a time column is read by MT5's own name", async () => {
  const data = join(import.meta.dirname, '../../../../test/data')
  await copyFile(join(data, 'GOOGL_D1.csv'), join(folder, 'GOOGL_CFD.US_Daily_200905220000_201808280000.csv'))
  const { log, read } = await exports.open()
  const { bars, complete } = await read('GOOGL_CFD.US', '1D')
  expect([bars.length, complete.length, log]).toEqual([2_335, 1, []])
})

test('an export whose name contradicts its bars is read by its name, and the log warns once', async () => {
  const data = join(import.meta.dirname, '../../../../test/data')
  const path = join(folder, 'GBPUSD_M1.csv')
  await copyFile(join(data, 'EURUSD_H1_2017.csv'), path)
  await copyFile(join(data, 'EURUSD_H1_2017.csv'), join(folder, 'USDJPY60.csv'))
  const { log, read } = await exports.open()
  for (let i = 0; i < 2; i++) expect((await read('GBPUSD', '1')).bars).toHaveLength(6_225)
  expect((await read('USDJPY', '60')).bars).toHaveLength(6_225)
  const why = 'looks like an export of 60: all 6224 distances between bars are multiples of 1h'
  const msg = 'bars contradict the name of their file; stored by its name'
  expect(log).toMatchObject([{ msg, file: path, resolution: '1', why }])
})

test('a line appended after the first full read is reported at once, in a separate window', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-3))
  const { read, reported, until } = await exports.open()
  expect(minutesOf((await read('EURUSD.z', '1')).bars)).toEqual([-3])
  await appendFile(path, line(-2) + line(-1).slice(0, 20))
  await until(() => reported.closed.length > 0)
  expect(minutesOf(reported.closed)).toEqual([-2])
  await appendFile(path, line(-1).slice(20))
  await until(() => reported.complete.at(-1)?.to === feedMinute)
  expect(minutesOf(reported.closed)).toEqual([-2, -1])
  expect(reported.complete.at(-1)?.from).toBe(feedMinute - 180)
})

test('a folder that was opened for a collector that has stopped is not watched', async () => {
  const { clock } = await exports.open({ isStopped: true })
  expect(clock.pending).toBe(0)
})

test('a file that shrank, was replaced or starts differently is read again', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const changes = [
    () => writeFile(path, header + line(-4) + line(-3)),
    // The last line is read again anyway, so the change is before it.
    () => writeFile(path, header + line(-5) + line(-4) + line(-3) + line(-2)),
    async () => {
      await writeFile(join(folder, 'new'), header + line(-3) + line(-2, '1.09325'))
      await rename(join(folder, 'new'), path)
    },
  ]
  await writeFile(path, header + line(-5) + line(-4) + line(-3) + line(-2))
  const { read, reported, until } = await exports.open()
  for (const [index, change] of changes.entries()) {
    await read('EURUSD.z', '1')
    await change()
    await until(() => reported.readAgain.length > index)
  }
  expect(minutesOf((await read('EURUSD.z', '1')).bars)).toEqual([-3, -2])
})

test('an export that appears later is added; other files are logged once', async () => {
  const { log, reported, until } = await exports.open()
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'notes.txt'), 'x')
  await writeFile(join(folder, 'EURUSD.z_M30.csv'), header)
  await writeFile(join(folder, 'GBP_USD_H1_2025.csv'), header + line(-120))
  await until(() => reported.readAgain.length > 0)
  expect(reported.symbols).toEqual([{ raw: 'GBP_USD', digits: 5, resolutions: ['60'] }])
  expect(reported.readAgain).toEqual([{ raw: 'GBP_USD', resolution: '60' }])
  await until(() => log.length >= 3)
  expect(Object.fromEntries(log.map(({ file, why }) => [file, why?.includes('derived')]))).toEqual({
    [join(folder, 'EURUSD.z_M30.csv')]: true,
    [join(folder, 'notes.txt')]: false,
    [join(folder, 'sub')]: false,
  })
  expect(log).toHaveLength(3)
})

test('all symbols that have a file are listed once a file has another raw name of its symbol', async () => {
  const path = (raw: string): string => join(folder, `${raw}_M1.csv`)
  for (const raw of ['AUDUSD', 'GBPUSD.z']) await writeFile(path(raw), header + line(-3))
  const { reported, until } = await exports.open()
  await rename(path('GBPUSD.z'), path('GBPUSD'))
  await until(() => reported.listed.length > 1)
  expect(reported.listed).toEqual([
    ['all', 'AUDUSD', 'GBPUSD.z'],
    ['all', 'AUDUSD', 'GBPUSD'],
  ])
  // For a while both files exist.
  await copyFile(path('GBPUSD'), path('GBPUSD.z'))
  await until(() => reported.listed.length > 2)
  await rm(path('GBPUSD'))
  await until(() => reported.listed.length > 3)
  expect(reported.listed.slice(2)).toEqual([
    ['added', 'GBPUSD.z'],
    ['all', 'AUDUSD', 'GBPUSD.z'],
  ])
  await writeFile(path('NZDUSD'), header + line(-3))
  await until(() => reported.listed.length > 4)
  expect(reported.listed.at(-1)).toEqual(['added', 'NZDUSD'])
})

test('all other symbols are listed once a symbol has no file any more, unless the whole folder is empty', async () => {
  const path = (raw: string): string => join(folder, `${raw}_M1.csv`)
  for (const raw of ['AUDUSD', 'GBPUSD']) await writeFile(path(raw), header + line(-3))
  const { clock, reported, until } = await exports.open()
  await rm(path('GBPUSD'))
  await until(() => reported.listed.length > 1)
  expect(reported.listed.at(-1)).toEqual(['all', 'AUDUSD'])
  await rm(path('AUDUSD'))
  await clock.advance(60_000)
  expect(reported.listed).toHaveLength(2)
  await writeFile(path('NZDUSD'), header + line(-3))
  await until(() => reported.listed.length > 2)
  expect(reported.listed.slice(2)).toEqual([['all', 'NZDUSD']])
})

test('the last line of a file that is not followed is read without a line end', async () => {
  await writeFile(join(folder, 'EURUSD.z_M1.csv'), (header + line(-3) + line(-2)).trimEnd())
  const { read } = await exports.open({ follow: false })
  expect(minutesOf((await read('EURUSD.z', '1')).bars)).toEqual([-3, -2])
})

test('prices with more decimals than the symbol has are rejected, never rounded, and claimed by no window', async () => {
  await writeFile(join(folder, 'EURUSD.z_M1.csv'), header + line(-3) + line(-2, '1.093275') + line(-1))
  const { log, read } = await exports.open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(minutesOf(bars)).toEqual([-3, -1])
  expect(complete.map(({ from, to }) => [from - feedMinute, to - feedMinute])).toEqual([
    [-180, -120],
    [-60, 0],
  ])
  expect(JSON.stringify(log)).toContain('price: got 6 decimals, wanted at most 5')
})

test('a line that is no valid bar is named, and does not replace a good one of the same time', async () => {
  const bad = line(-2, '1.0')
  await writeFile(join(folder, 'EURUSD.z_M1.csv'), header + line(-3) + line(-2) + bad + line(-1))
  const { log, read } = await exports.open()
  const { bars } = await read('EURUSD.z', '1')
  expect(bars.map(({ close }) => close)).toEqual([1.09327, 1.09327, 1.09327])
  const first = [{ line: 4, reason: expect.stringMatching(/^low: got 1.09318/) as string }]
  expect(log).toMatchObject([{ msg: 'lines rejected', badLines: 1, first }])
})

test('a line that cannot be read is claimed by no window; without a time it may be any bar between its neighbours', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const bad = line(-8, 'n/a') + line(-7) + 'x\r\n'
  await writeFile(path, header + line(-9) + bad + line(-4) + line(-3))
  const { read } = await exports.open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(minutesOf(bars)).toEqual([-9, -7, -4, -3])
  expect(complete.map(({ from, to }) => [(from - feedMinute) / 60, (to - feedMinute) / 60])).toEqual([
    [-9, -8],
    [-7, -6],
    [-4, -2],
  ])
})

test('a line without a readable time that was just written is claimed by no window', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-3))
  const { read, reported, until } = await exports.open()
  await read('EURUSD.z', '1')
  await appendFile(path, 'x\r\n')
  await appendFile(path, line(-1))
  await until(() => reported.complete.length > 0)
  expect(minutesOf(reported.closed)).toEqual([-1])
  expect(reported.complete).toEqual([{ from: feedMinute - 60, to: feedMinute }])
})

test('a file is read again when an earlier line was rewritten with another length', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  const minutes = Array.from({ length: 30 }, (_, i) => line(i - 31))
  await writeFile(path, header + minutes.join(''))
  const { read, reported, until } = await exports.open()
  await read('EURUSD.z', '1')
  const shorter = minutes.with(20, line(-11).replace('\t42\t', '\t9\t'))
  await writeAt(path, 0, header + shorter.join('') + line(-1))
  await until(() => reported.readAgain.length + reported.closed.length > 0)
  expect([reported.readAgain.length, reported.closed]).toEqual([1, []])
  const { bars } = await read('EURUSD.z', '1')
  expect([bars.length, bars[20]?.volume]).toEqual([31, 9])
})

test('a later file with more decimals raises the decimals of its symbol', async () => {
  const coarse = (text: string) => text.replaceAll(/(1\.09)\d+/g, '$1')
  const path = join(folder, 'GBP_M1_a.csv')
  await writeFile(path, header + coarse(line(-5)))
  const { reported, read, until } = await exports.open()
  await read('GBP', '1')
  await appendFile(path, line(-4))
  await writeFile(join(folder, 'GBP_M1_b.csv'), header + line(-3))
  await until(() => reported.readAgain.length > 0)
  expect(reported.symbols.map(({ digits }) => digits)).toEqual([2, 5])
  expect(minutesOf((await read('GBP', '1')).bars)).toEqual([-5, -4, -3])
})

test('a missing folder is logged once, and once more when it can be read again', async () => {
  const { clock, log, until } = await exports.open()
  const reported = (part: string) => log.filter(({ msg, why }) => `${msg} ${why}`.includes(part)).length
  await rename(folder, `${folder}-gone`)
  await until(() => reported('does not exist') > 0)
  for (let i = 0; i < 5; i++) await clock.advance(1_000)
  await rename(`${folder}-gone`, folder)
  await until(() => reported('can be read again') > 0)
  expect([reported('does not exist'), reported('can be read again')]).toEqual([1, 1])
})

test('a file that is being read delays no other', async () => {
  const [busy, other] = [join(folder, 'A_M1.csv'), join(folder, 'B_M1.csv')]
  for (const path of [busy, other]) await writeFile(path, header + line(-4) + line(-3))
  const { reported, source, read, until } = await exports.open()
  await read('A', '1')
  await read('B', '1')
  const slow = source.read({ raw: 'A', resolution: '1' }, everything, exports.signal)
  for await (const { bars } of slow) {
    expect(minutesOf(toList(bars))).toEqual([-4, -3])
    for (const path of [busy, other]) await appendFile(path, line(-2))
    await until(() => reported.closed.length > 0)
    break
  }
  expect(minutesOf(reported.closed)).toEqual([-2])
  await read('A', '1')
})

test('for a time that several files contain, only the bar of the last file by name is returned', async () => {
  await writeFile(join(folder, 'EURUSD.z_M1_b.csv'), header + line(-3, '1.09325') + line(-2, '1.09325'))
  await writeFile(join(folder, 'EURUSD.z_M1_a.csv'), header + line(-4) + line(-3) + line(-1))
  const { read } = await exports.open()
  for (let i = 0; i < 2; i++) {
    const { bars } = await read('EURUSD.z', '1')
    expect(bars.map(({ time, close }) => [(time - feedMinute) / 60, close])).toEqual([
      [-4, 1.09327],
      [-1, 1.09327],
      [-3, 1.09325],
      [-2, 1.09325],
    ])
  }
})

test('a file without a bar, or no export, blocks no other file and is read when it changes', async () => {
  await writeFile(join(folder, 'AAA_M1.csv'), 'not an export\n')
  await writeFile(join(folder, 'BBB_M1.csv'), '')
  await writeFile(join(folder, 'CCC_M1.csv'), header + line(-3))
  const { reported, until } = await exports.open()
  expect(reported.symbols.map(({ raw, digits }) => [raw, digits])).toEqual([['CCC', 5]])
  for (const raw of ['BBB', 'AAA']) await writeFile(join(folder, `${raw}_M1.csv`), header + line(-3))
  await until(() => reported.symbols.length === 3)
  expect(reported.symbols.map(({ digits }) => digits)).toEqual([5, 5, 5])
})
