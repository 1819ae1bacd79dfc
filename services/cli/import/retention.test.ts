import { expect, test } from 'vitest'
import { exportText, minutes } from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  MINUTES: { retention: { '1': '90d' } },
  HOURS: { retention: { '60': '90d' } },
})

const hour = 3_600
const monday = Date.UTC(2024, 0, 8) / 1000
const old = (): string => fixture.write(exportText(minutes(monday, 180, 1.1, 5)))

test('bars that are derived from minutes older than the retention are stored and covered', async () => {
  const args = [...seriesOptions('EURUSD', '1', 'MINUTES'), '--derive', '60', '--json']
  const { code, json } = await fixture.importing(old(), ...args)
  expect(code).toBe(65)
  expect(json).toMatchObject({ accepted: 0, refused: 180, derived: { 60: { accepted: 3, refused: 0 } } })
  expect(await fixture.history('BROKERA:MINUTES:EURUSD', '1')).toEqual([])
  expect(await fixture.history('BROKERA:MINUTES:EURUSD', '60')).toHaveLength(3)
  expect(await fixture.coverage('BROKERA:MINUTES:EURUSD')).toMatchObject([
    { from: monday, to: monday + 2 * hour },
  ])
})

test('derived bars that the service refuses are reported with the reason, and the import exits with 65', async () => {
  const { code, stderr } = await fixture.importing(
    old(),
    ...seriesOptions('EURUSD', '1', 'HOURS'),
    '--derive',
    '60',
  )
  expect([code, stderr]).toEqual([
    65,
    expect.stringMatching(
      /^fxd: 3 derived bars of resolution 60 were refused \(first reason: time: got .*, the feed.s retention\)\.\n$/,
    ),
  ])
  expect(await fixture.history('BROKERA:HOURS:EURUSD', '1')).toHaveLength(180)
})
