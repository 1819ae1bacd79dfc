import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createLog } from '../../../platform/log/log.ts'
import { createListing } from './listing.ts'

function openListing(max: number, spec: Record<string, unknown> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-listing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const reported: string[] = []
  const log = createLog('warn', { write: (line: string) => void reported.push(line) })
  return { folder, reported, list: createListing(folder, defineFeed(spec), log, max) }
}

test('names that are not read are logged only up to the bound, over all scans', async () => {
  const { folder, reported, list } = openListing(10)
  for (const scan of ['a', 'b']) {
    for (let i = 0; i < 8; i++) mkdirSync(join(folder, `${scan}${i}_M1.csv`))
    expect(await list()).toEqual([])
    for (let i = 0; i < 8; i++) rmdirSync(join(folder, `${scan}${i}_M1.csv`))
  }
  expect(reported).toHaveLength(10)
})

test('a folder with more entries than the bound is read up to the bound, and the log says so once', async () => {
  const { folder, reported, list } = openListing(10)
  for (let i = 0; i < 6; i++) {
    mkdirSync(join(folder, `${i}`))
    writeFileSync(join(folder, `EURUSD_M1_${i}.csv`), '')
  }
  const [first, second] = [await list(), await list()]
  expect(first.length).toBeGreaterThanOrEqual(4)
  expect(second).toEqual(first)
  const others = reported.filter((line) => !line.includes('not a regular file'))
  expect(others).toEqual([expect.stringContaining('too many entries in the folder')])
  expect(first.length + reported.length - others.length).toBe(10)
})

test("a folder reads MT5's names with words and MT4's names with minutes", async () => {
  const listed = { symbols: { list: [{ raw: 'JPN225', type: 'index', digits: 1 }] } }
  const { folder, reported, list } = openListing(10, listed)
  const files = [
    'AUDJPY60.csv',
    'EURUSD.z_Daily_202611230000_202611250000.csv',
    'GBPUSD1440.csv',
    'JPN2255.csv',
  ]
  for (const name of files) writeFileSync(join(folder, name), '')
  expect(await list()).toEqual(
    [
      { raw: 'AUDJPY', resolution: '60' },
      { raw: 'EURUSD.z', resolution: '1D' },
      { raw: 'GBPUSD', resolution: '1D' },
      { raw: 'JPN225', resolution: '5' },
    ].map((series, i) => ({ path: join(folder, files[i] as string), folder, series })),
  )
  expect(reported).toEqual([])
})

test.for([
  ['EURUSD_M2_202611230000_202611250000.csv', '"M2" is a timeframe that fxd does not serve; wanted is RAW_'],
  [
    'EURUSD_H6.csv',
    '"H6" is a timeframe that fxd does not serve; wanted is RAW_TIMEFRAME.csv with one of M1,',
  ],
  ['EURUSD_daily_202611230000_202611250000.csv', '"daily" is not a timeframe (did you mean Daily?)'],
  ['EURUSD_Weekly_x.csv', 'BROKERA:ZERO does not list resolution 1W in spec.resolutions'],
  ['EURUSD30.csv', '30 is derived from M1'],
  ['EURUSD_202611230000_202611250000.csv', 'it names no timeframe; wanted is'],
  [
    'US3060.csv',
    'it names no timeframe; spec.symbols.list must have a RAW that contains _ or ends in a digit',
  ],
  ['EURUSD.csv', 'it names no timeframe; wanted is'],
] as const)('%s is not read, and the log says: %s', async ([name, sentence]) => {
  const { folder, reported, list } = openListing(10)
  writeFileSync(join(folder, name), '')
  expect(await list()).toEqual([])
  const lines = reported.map((each) => JSON.parse(each) as object)
  const why = expect.stringContaining(sentence) as string
  expect(lines).toEqual([expect.objectContaining({ msg: 'file not read', file: join(folder, name), why })])
})
