import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { defineFeed } from '../../../../test/support/fixtures/ingest-fixture.ts'
import { createLog } from '../../../platform/log/log.ts'
import { createListing } from './listing.ts'

test('names that are not read are logged only up to the bound, over all scans', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-listing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (let i = 0; i < 12; i++) mkdirSync(join(folder, `${i}_M1.csv`))
  let reported = 0
  const log = createLog('warn', { write: () => void reported++ })
  const list = createListing(folder, defineFeed({}), log, 10)
  expect([await list(), await list()]).toEqual([[], []])
  expect(reported).toBe(10)
})
