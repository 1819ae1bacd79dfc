import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  type ExportFolder,
  feedMinute,
  header,
  line,
  minutesOf,
  openExportFolder,
  writeAt,
} from '../../../../test/support/fixtures/export-folder-fixture.ts'

let exports: ExportFolder
let folder: string
beforeEach(async () => {
  exports = await openExportFolder()
  folder = exports.folder
})
afterEach(() => exports.close())

test('a forming bar is reported once it has closed, with the values that its line then has', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0, '1.09300'))
  const { read, reported, until } = await exports.open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect([minutesOf(bars), complete]).toEqual([[-1], [{ from: feedMinute - 60, to: feedMinute }]])
  await writeAt(path, (header + line(-1)).length, line(0, '1.09322'))
  await until(() => reported.closed.length > 0)
  expect(reported.closed.map((bar) => [bar.time, bar.close])).toEqual([[feedMinute, 1.09322]])
})

test('while the clock of this machine is ahead, a forming bar is held back until it has closed for ingest', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0))
  const { reported, read, until } = await exports.open({ aheadMs: 90_000 })
  expect(minutesOf((await read('EURUSD.z', '1')).bars)).toEqual([-1])
  await writeAt(path, (header + line(-1)).length, line(0, '1.09322'))
  await until(() => reported.closed.length > 0)
  expect(reported.closed.map((bar) => [bar.time, bar.close])).toEqual([[feedMinute, 1.09322]])
})

test('a closed bar is reported again when the last line is rewritten, and only then', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-2))
  const { reported, read, until } = await exports.open()
  await read('EURUSD.z', '1')
  await appendFile(path, line(-1, '1.09321'))
  await until(() => reported.closed.length === 1)
  await writeAt(path, (header + line(-2)).length, line(-1, '1.09325'))
  await until(() => reported.closed.length === 2)
  await appendFile(path, line(0))
  await until(() => reported.closed.length === 3)
  expect(reported.closed.map((bar) => [(bar.time - feedMinute) / 60, bar.close])).toEqual([
    [-1, 1.09321],
    [-1, 1.09325],
    [0, 1.09327],
  ])
  expect(reported.readAgain).toEqual([])
})

test.each([
  ['a blank line', '\r\n'],
  ['a bad line', 'x\r\n'],
  ['an earlier line', line(-4)],
  ['a line of the same minute', line(0, '1.09319')],
])('a forming bar is reported once it has closed, with %s after it', async (_, behind) => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(-1) + line(0) + behind)
  const { clock, log, reported, read, until } = await exports.open()
  const { bars, complete } = await read('EURUSD.z', '1')
  expect(minutesOf(bars)).not.toContain(0)
  expect(complete.at(-1)?.to).toBe(feedMinute)
  await clock.advance(40_000)
  await until(() => reported.complete.length > 0)
  expect(reported.closed.filter(({ time }) => time === feedMinute)).toHaveLength(1)
  expect(reported.complete.at(-1)?.to).toBe(feedMinute + 60)
  expect(log.filter(({ msg }) => msg === 'lines rejected').length).toBeLessThanOrEqual(1)
})

test('lines after a line far ahead of the clock are read once, not repeatedly', async () => {
  const path = join(folder, 'EURUSD.z_M1.csv')
  await writeFile(path, header + line(9_000) + line(-3))
  const { reported, read, until } = await exports.open()
  await read('EURUSD.z', '1')
  for (const minute of [-2, -1]) {
    await appendFile(path, line(minute))
    await until(() => reported.closed.at(-1)?.time === feedMinute + minute * 60)
  }
  expect(minutesOf(reported.closed)).toEqual([-2, -1])
})
