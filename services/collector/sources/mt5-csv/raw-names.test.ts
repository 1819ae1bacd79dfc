import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { exportText, minutes } from '../../../../test/acceptance/client/bars.ts'
import { fixture, useImportFixture } from '../../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  ZERO: {
    resolutions: ['1'],
    depth: { '1': '2024-01-01' },
    symbols: { list: [{ raw: 'Volatility 75 Index', name: 'VOL75', type: 'index', digits: 5 }] },
    source: { type: 'Mt5Csv', path: 'exports', follow: true },
  },
})

test('files of raw names with spaces are served under the name of the manifest, and without one under their own', async () => {
  const bars = minutes(Date.UTC(2024, 0, 8) / 1000, 20, 1.1, 5)
  const folder = join(fixture.folder, 'feeds', 'exports')
  mkdirSync(folder)
  for (const raw of ['Volatility 75 Index', 'Boom 500 (1s) Index'])
    writeFileSync(join(folder, `${raw}_M1.csv`), exportText(bars))
  const symbols = ['BROKERA:ZERO:Boom 500 (1s) Index', 'BROKERA:ZERO:VOL75']
  for (const symbol of symbols) {
    await expect.poll(() => fixture.history(symbol, '1'), { timeout: 20_000 }).toEqual(bars)
    await expect.poll(() => fixture.coverage(symbol), { timeout: 20_000 }).toHaveLength(1)
  }
  const { json } = await fixture.running('feeds', 'show', 'BROKERA:ZERO', '--json')
  expect(json['symbols']).toEqual(symbols)
})
