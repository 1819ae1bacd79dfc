import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createLog } from '../../../platform/log/log.ts'
import { createListing } from './listing.ts'

function openListing(max: number) {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-listing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const reported: string[] = []
  const log = createLog('warn', { write: (line: string) => void reported.push(line) })
  return { folder, reported, list: createListing(folder, defineFeed({}), log, max) }
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
  expect(others).toEqual([expect.stringContaining('has more than 10 entries')])
  expect(first.length + reported.length - others.length).toBe(10)
})
