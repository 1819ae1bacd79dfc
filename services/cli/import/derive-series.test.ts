import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Bar, bitcoinMinutes, exportText, fold, minutes } from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { bucketsOf } from './derive-series.ts'

useImportFixture({ ZERO: {} })

/** Imports a file that must have no refused line; returns the report. */
const importing = async (path: string, ...args: readonly string[]) => {
  const ran = await fixture.importing(path, ...args, '--json')
  expect(ran.stderr).not.toContain('refused')
  return ran.json
}
const monday = Date.UTC(2024, 0, 8) / 1000
const day = 86_400

test('a refused minute takes its whole bucket of each longer resolution from the windows', () => {
  const [from, to] = [monday + 10 * 60, monday + 16 * 60].map(feedSeconds) as [FeedSeconds, FeedSeconds]
  expect(bucketsOf({ from, to }, '5')).toEqual({ from: monday + 600, to: monday + 1_200 })
  expect(bucketsOf({ from, to }, '60')).toEqual({ from: monday, to: monday + 3_600 })
})

describe('--derive', () => {
  const all = '5,10,15,60,120,240,1D,1W,1M'
  const seconds = { 5: 300, 10: 600, 15: 900, 60: 3_600, 120: 7_200, 240: 14_400, '1D': day }

  test.for([
    ['in the order of the file', 'DERIVED', (text: string) => text],
    [
      'in any order',
      'DERIVEDANYHOW',
      (text: string) => {
        const [header, ...lines] = text.split('\r\n')
        return [header, ...lines.toReversed()].join('\r\n')
      },
    ],
  ] as const)('folds every longer resolution of the minutes, %s', async ([, symbol, order]) => {
    const text = readFileSync(
      new URL('../../../test/data/BTCUSD_M1_201311.csv', import.meta.url),
      'utf8',
    ).trimEnd()
    const path = fixture.write(order(text))
    await importing(path, ...seriesOptions(symbol, '1'), '--derive', all)
    for (const [resolution, each] of Object.entries(seconds)) {
      expect(await fixture.history(`BROKERA:ZERO:${symbol}`, resolution)).toEqual(
        fold(bitcoinMinutes(), each),
      )
    }
    const december = Date.UTC(2013, 11, 1) / 1000
    const inDecember = fold(bitcoinMinutes(), day).filter(({ time }) => time >= december)
    for (const resolution of ['1W', '1M']) {
      expect(await fixture.history(`BROKERA:ZERO:${symbol}`, resolution)).toEqual(inDecember)
    }
    const again = await importing(path, ...seriesOptions(symbol, '1'), '--derive', all)
    for (const [, each] of Object.entries(again['derived'] as Record<string, object>)) {
      expect(each).toMatchObject({ accepted: 0, revised: 0, refused: 0 })
    }
  })

  test('folds prices at and below zero, which an import stores as they are', async () => {
    const bars = minutes(monday, 120, -0.05, 2)
    await importing(fixture.write(exportText(bars)), ...seriesOptions('OIL', '1'), '--derive', '60')
    expect(await fixture.history('BROKERA:ZERO:OIL', '1')).toEqual(bars)
    expect(await fixture.history('BROKERA:ZERO:OIL', '60')).toEqual(fold(bars, 3_600))
  })

  test('leaves out bars that begin in a gap of the file', async () => {
    const early = minutes(monday + 600, 120, 1.1, 5)
    const late = minutes(monday + 10 * day + 600, 120, 1.2, 5)
    await importing(
      fixture.write(exportText([...early, ...late])),
      ...seriesOptions('PARTS', '1'),
      '--derive',
      '60',
    )
    const hours = [...fold(early, 3_600).slice(1), ...fold(late, 3_600).slice(1)]
    expect(await fixture.history('BROKERA:ZERO:PARTS', '60')).toEqual(hours)
  })

  test('leaves out the bar that is still forming', async () => {
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600
    const closed = (): number => (Date.now() / 1000 >= hour + 3_600 ? 2 : 1)
    const before = closed()
    const bars = minutes(hour - 3_600, Math.max(61, Math.floor((Date.now() / 1000 - hour) / 60) + 60), 1.1, 5)
    await importing(fixture.write(exportText(bars)), ...seriesOptions('HOURNOW', '1'), '--derive', '60')
    expect((await fixture.history('BROKERA:ZERO:HOURNOW', '60')).map(({ time }) => time)).toContain(
      hour - 3_600,
    )
    const { length } = await fixture.history('BROKERA:ZERO:HOURNOW', '60')
    expect([before, closed()]).toContain(length)
  })

  test('is replaced by the terminal’s own bars, and never replaces them', async () => {
    const bars = minutes(monday, 180, 1.1, 5)
    const hours = fold(bars, 3_600).map((bar) => ({ ...bar, volume: bar.volume + 7 }))
    const fine = fixture.write(exportText(bars))
    await importing(fine, ...seriesOptions('WHO', '1'), '--derive', '60')
    expect(await importing(fixture.write(exportText(hours)), ...seriesOptions('WHO', '60'))).toMatchObject({
      revised: 3,
    })
    const after = await importing(fine, ...seriesOptions('WHO', '1'), '--derive', '60')
    expect(after['derived']).toMatchObject({ 60: { accepted: 0, revised: 0, unchanged: 3 } })
    expect(await fixture.history('BROKERA:ZERO:WHO', '60')).toEqual(hours)
  })

  test('of a later file replaces that of an earlier one', async () => {
    const bars = minutes(monday, 180, 1.1, 5)
    const changed = bars.with(70, { ...(bars[70] as Bar), volume: 1 })
    await importing(fixture.write(exportText(bars)), ...seriesOptions('LATER', '1'), '--derive', '60')
    const report = await importing(
      fixture.write(exportText(changed)),
      ...seriesOptions('LATER', '1'),
      '--derive',
      '60',
    )
    expect(report['derived']).toMatchObject({ 60: { revised: 1, unchanged: 2 } })
    expect(await fixture.history('BROKERA:ZERO:LATER', '60')).toEqual(fold(changed, 3_600))
  })
})
