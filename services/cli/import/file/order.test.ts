import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readExport } from '../../../collector/sources/mt5-csv/export/read-export.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { type LineOrder, scanOrder } from './order.ts'

const folder = mkdtempSync(join(tmpdir(), 'fxd-order-'))
afterAll(() => rmSync(folder, { recursive: true }))

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>'
const bar = (minute: string): string => `2024.01.02\t${minute}\t1\t1\t1\t1\t1\t0\t0`

async function startOf(path: string, resolution: Resolution = '1') {
  for await (const { positionOf } of readExport(path, { resolution, finished: true })) return positionOf(1)
  return expect.unreachable('no layout')
}

async function orderOf(text: string | Buffer): Promise<LineOrder> {
  const path = join(folder, 'order.csv')
  writeFileSync(path, text)
  return scanOrder(path, await startOf(path))
}

test('the bytes that were read are reported while the file is read', async () => {
  const text = `${header}\n${`${bar('10:00:00')}\n`.repeat(60_000)}`
  const path = join(folder, 'long.csv')
  writeFileSync(path, text)
  const read: number[] = []
  await scanOrder(path, await startOf(path), (bytes) => void read.push(bytes))
  expect(read.length).toBeGreaterThan(1)
  expect(read.reduce((all, bytes) => all + bytes, 0)).toBe(text.length)
})

const utf16 = (text: string, mark: boolean, big: boolean): Buffer => {
  const bytes = Buffer.from(`${mark ? '\uFEFF' : ''}${text}`, 'utf16le')
  return big ? bytes.swap16() : bytes
}

describe('an ascending file is distinguished from an unsorted one', () => {
  const ascending = [header, bar('10:00:00'), bar('10:01:00'), bar('10:02:00')]
  const swapped = [header, bar('10:00:00'), bar('10:02:00'), bar('10:01:00')]

  test.for([
    ['CRLF', '\r\n'],
    ['LF', '\n'],
  ] as const)('with lines that end in %s, with or without a last line end', async ([, end]) => {
    expect(await orderOf(ascending.join(end) + end)).toEqual({ lines: 4, unsortedLine: undefined })
    expect(await orderOf(ascending.join(end))).toEqual({ lines: 4, unsortedLine: undefined })
    expect(await orderOf(swapped.join(end) + end)).toEqual({ lines: 4, unsortedLine: 4 })
    expect(await orderOf(swapped.join(end))).toEqual({ lines: 4, unsortedLine: 4 })
  })

  test.for([true, false])('in UTF-16 of both kinds, with a mark: %s', async (mark) => {
    for (const big of [true, false]) {
      expect(await orderOf(utf16(ascending.join('\r\n'), mark, big))).toEqual({
        lines: 4,
        unsortedLine: undefined,
      })
      expect(await orderOf(utf16(swapped.join('\r\n'), mark, big))).toEqual({ lines: 4, unsortedLine: 4 })
    }
  })

  test('a repeated time does not ascend', async () => {
    expect(await orderOf([header, bar('10:00:00'), bar('10:00:00')].join('\n'))).toMatchObject({
      unsortedLine: 3,
    })
    expect(await orderOf([header, bar('10:00'), bar('10:00:30')].join('\n'))).toMatchObject({
      unsortedLine: 3,
    })
  })

  test('blank lines and lines that are too short for a time do not count', async () => {
    const lines = ['', header, '', bar('10:00:00'), 'end of day', '', bar('10:01:00'), '', '']
    expect(await orderOf(lines.join('\n'))).toMatchObject({ unsortedLine: undefined })
  })

  test("days without a time column, and MT4's lines without a header", async () => {
    const days = (...all: string[]) =>
      [
        '<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>',
        ...all.map((day) => `${day}\t1\t1\t1\t1\t1`),
      ].join('\n')
    const path = join(folder, 'days.csv')
    const dayOrder = async (text: string) => {
      writeFileSync(path, text)
      return scanOrder(path, await startOf(path, '1D'))
    }
    expect(await dayOrder(days('2024.01.31', '2024.02.01'))).toMatchObject({ unsortedLine: undefined })
    expect(await dayOrder(days('2024.02.01', '2024.01.31'))).toMatchObject({ unsortedLine: 3 })
    expect(await orderOf('2024.01.02,10:00,1,1,1,1,1\n2024.01.02,10:01,1,1,1,1,1\n')).toMatchObject({
      unsortedLine: undefined,
    })
    expect(await orderOf('2024.01.02,10:01,1,1,1,1,1\n2024.01.02,10:00,1,1,1,1,1\n')).toMatchObject({
      unsortedLine: 2,
    })
  })

  test('in a file that is read in several pieces', async () => {
    const minutes = Array.from({ length: 60_000 }, (_, i) => {
      const at = new Date(Date.UTC(2024, 0, 2) + i * 60_000).toISOString()
      return `${at.slice(0, 10).replaceAll('-', '.')}\t${at.slice(11, 19)}\t1\t1\t1\t1\t1\t0\t0`
    })
    expect(await orderOf([header, ...minutes].join('\r\n'))).toEqual({
      lines: 60_001,
      unsortedLine: undefined,
    })
    expect(await orderOf(utf16([header, ...minutes].join('\r\n'), true, false))).toEqual({
      lines: 60_001,
      unsortedLine: undefined,
    })
    const late = minutes.with(59_990, minutes[10] as string)
    expect(await orderOf([header, ...late].join('\r\n'))).toMatchObject({ unsortedLine: 59_992 })
  })
})
