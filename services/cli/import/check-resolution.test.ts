import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  type Bar,
  bitcoinMinutes,
  dailyText,
  euroHours,
  exportText,
  fold,
  googleDays,
  minutes,
} from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'
import { checkName } from './check-resolution.ts'

useImportFixture({ ZERO: {} })

describe('the name of a file', () => {
  test.for([
    ['EURUSD_H1_2017.csv', 'EURUSD', '1', '60; state its resolution, or rename the file.'],
    ['EURUSD.z_M30_2024.csv', 'EURUSD', '1', '30; 30 is never stored, so import an export of 1.'],
    ['AUDJPY60.csv', 'AUDJPY', '1', '60; state its resolution, or rename the file.'],
    ['#AAPL.z60.csv', 'AAPL', '1', '60; state'],
    ['GBPUSD1440.csv', 'GBPUSD', '60', '1D; state'],
    ['GBPUSD10080.csv', 'GBPUSD', '1D', '1W; state'],
    ['GBPUSD43200.csv', 'GBPUSD', '1W', '1M; state'],
    ['JPN22515.csv', 'JPN225', '5', '15; state'],
    ['EURUSD.z_Daily_202601010000_202611250000.csv', 'EURUSD', '1W', '1D; state'],
    [
      'EURUSD_M2_2026.csv',
      'EURUSD',
      '1',
      'M2, which fxd does not serve; import an export of another timeframe.',
    ],
    ['EURUSD_H6_2026.csv', 'EURUSD', '60', 'H6, which fxd does not serve;'],
    ['EURUSD_H12_2026.csv', 'EURUSD', '240', 'H12, which fxd does not serve;'],
  ] as const)('%s of %s is refused as bars of %s', ([name, symbol, resolution, end]) => {
    expect(() => checkName({ name: `exports/${name}`, symbol, resolution })).toThrow(
      `--resolution is ${resolution}, but exports/${name} has the name of an export of ${end}`,
    )
  })

  test.for([
    ['EURUSD_H1_2017.csv', 'EURUSD', '60'],
    ['EURUSD_M1.csv', 'EURUSD', '1'],
    ['EURUSD60.csv', 'EURUSD', '60'],
    ['EURUSD_Monthly_2026.csv', 'EURUSD', '1M'],
    ['US30.csv', 'US30', '1'],
    ['JPN225.csv', 'JPN225', '60'],
    ['part5.csv', 'EURUSD', '1'],
    ['EURUSD_part5.csv', 'EURUSD', '1'],
    ['bars.csv', 'EURUSD', '1'],
    ['standard input', 'EURUSD', '15'],
  ] as const)('%s of %s may have bars of resolution %s', ([name, symbol, resolution]) => {
    expect(() => checkName({ name, symbol, resolution })).not.toThrow()
  })

  test('is refused with 64 also with --resolution-is-right, and nothing is stored', async () => {
    const path = join(fixture.folder, 'AUDJPY60.csv')
    writeFileSync(path, exportText(euroHours()))
    const args = [...seriesOptions('AUDJPY', '1'), '--resolution-is-right']
    const { code, stdout, stderr } = await fixture.importing(path, ...args)
    expect([code, stdout]).toEqual([64, ''])
    expect(stderr).toContain(`--resolution is 1, but ${path} has the name of an export of 60;`)
    expect(await fixture.history('BROKERA:ZERO:AUDJPY', '1')).toEqual([])
  })
})

const real = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../test/data/${name}`, import.meta.url)), 'utf8')
const hours = 3_600
const newestFirst = (bars: readonly Bar[]): Bar[] => [...bars].reverse()

describe('the bars of a file', () => {
  test.for([
    [
      'hours',
      real('EURUSD_H1_2017.csv'),
      '1',
      'an export of 60: all 6224 distances between bars are multiples of 1h',
    ],
    ['hours', real('EURUSD_H1_2017.csv'), '10', 'an export of 60: all 6224'],
    [
      'hours',
      real('EURUSD_H1_2017.csv'),
      '240',
      'an export of 60: 6172 of 6224 distances between bars are shorter than 240',
    ],
    ['hours, newest first', exportText(newestFirst(euroHours())), '1D', 'an export of 60:'],
    ['minutes', real('BTCUSD_M1_201311.csv'), '5', 'an export of 1: '],
    [
      'days',
      real('GOOGL_D1.csv'),
      '1W',
      'an export of 1D: 2334 of 2334 distances between bars are shorter than 1W',
    ],
    ['days', real('GOOGL_D1.csv'), '1M', 'an export of 1D: 2223 of 2334'],
    ['weeks', dailyText(weeks()), '1M', 'an export of 1W: '],
    ['two minutes', exportText(fold(bitcoinMinutes(), 120)), '1', 'an export of bars of 2m: all'],
    ['four hours', exportText(fold(euroHours(), 4 * hours)), '60', 'an export of 240: all'],
    ['six hours', exportText(fold(euroHours(), 6 * hours)), '60', 'an export of bars of 6h: all'],
  ] as const)('of %s are refused with 64 before any is sent: %#', async ([, text, resolution, sentence]) => {
    const path = fixture.write(text)
    const ran = await fixture.importing(path, ...seriesOptions('WRONG', resolution))
    expect([ran.code, ran.stdout]).toEqual([64, ''])
    expect(ran.stderr).toContain(`--resolution is ${resolution}, but ${path} looks like ${sentence}`)
    expect(ran.stderr).toContain(`If ${resolution} is right, add --resolution-is-right.`)
    expect((await fixture.running('feeds', 'show', 'BROKERA:ZERO')).stdout).not.toContain('WRONG')
  })

  test('on standard input are judged too', async () => {
    const ran = await fixture.importingPiped(
      Buffer.from(real('EURUSD_H1_2017.csv')),
      ...seriesOptions('PIPED', '1'),
    )
    expect([ran.code, ran.stderr]).toEqual([64, expect.stringContaining('but standard input looks like')])
  })

  test('are stored with --resolution-is-right', async () => {
    const path = fixture.write(exportText(euroHours()))
    const ran = await fixture.importing(path, ...seriesOptions('SPARSE', '1'), '--resolution-is-right')
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(await fixture.history('BROKERA:ZERO:SPARSE', '1')).toEqual(euroHours())
  })

  test('of a broker that has days before its minutes are stored as minutes', async () => {
    const days = googleDays().slice(0, 1_000)
    const path = fixture.write(exportText([...days, ...bitcoinMinutes().slice(0, 300)]))
    expect((await fixture.importing(path, ...seriesOptions('MIXED', '1'))).code).toBe(0)
    expect(await fixture.history('BROKERA:ZERO:MIXED', '1')).toHaveLength(1_300)
  })

  test('which are too few to be certain are stored', async () => {
    const path = fixture.write(exportText(euroHours().slice(0, 29)))
    expect((await fixture.importing(path, ...seriesOptions('FEW', '1'))).code).toBe(0)
    const twenty = fixture.write(exportText(minutes(Date.UTC(2024, 0, 8) / 1000, 20, 1.1, 5)))
    expect((await fixture.importing(twenty, ...seriesOptions('FEW', '60'))).code).toBe(0)
  })
})

/** Weekly bars of the real days. */
function weeks(): Bar[] {
  const day = 86_400
  // The week of 1970-01-01 began on a Thursday.
  const moved = googleDays().map((bar) => ({ ...bar, time: bar.time + 3 * day }))
  return fold(moved, 7 * day).map((bar) => ({ ...bar, time: bar.time - 3 * day }))
}
