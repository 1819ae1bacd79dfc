import { readFileSync, utimesSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  type Bar,
  bitcoinMinutes,
  dailyText,
  euroHours,
  exportText,
  googleDays,
  line,
  minutes,
} from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  ZERO: { symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } },
  MID: { quoteBasis: 'Mid', symbols: { list: [{ raw: 'HALF', type: 'cfd', digits: 2 }] } },
  UNKNOWN: { clock: { mode: 'Measured' } },
  LATE: { symbols: { list: [{ raw: 'SLOW', type: 'cfd', digits: 2, delaySeconds: 900 }] } },
})

const exported = (name: string): string =>
  fileURLToPath(new URL(`../../../test/data/${name}`, import.meta.url))
/** Imports a file without any fault; returns the report. */
const importing = async (path: string, ...args: readonly string[]) => {
  const ran = await fixture.importing(path, ...args, '--json')
  expect(ran.code, ran.stderr).toBe(0)
  return ran.json
}
const monday = Date.UTC(2024, 0, 8) / 1000
const day = 86_400
const counts = (accepted: number, more: object = {}) => ({
  accepted,
  revised: 0,
  unchanged: 0,
  forming: 0,
  refused: 0,
  duplicates: 0,
  ...more,
})

describe('a real export', () => {
  test.for([
    ['BTCUSD_M1_201311.csv', 'BTCUSD', '1', bitcoinMinutes()],
    ['EURUSD_H1_2017.csv', 'EURUSD', '60', euroHours()],
    ['GOOGL_D1.csv', 'GOOGL_CFD.US', '1D', googleDays()],
  ] as const)(
    '%s is returned over REST exactly, and a second import changes nothing',
    async ([file, symbol, resolution, bars]) => {
      const key = `BROKERA:ZERO:${symbol}`
      const first = await importing(exported(file), ...seriesOptions(symbol, resolution))
      expect(first).toMatchObject({ lines: bars.length + 1, ...counts(bars.length) })
      expect(await fixture.history(key, resolution)).toEqual(bars)
      const covered = [{ from: bars[0]?.time, to: bars.at(-1)?.time }]
      expect(await fixture.coverage(key)).toEqual(covered)

      const again = await importing(exported(file), ...seriesOptions(symbol, resolution))
      expect(again).toMatchObject(counts(0, { unchanged: bars.length }))
      expect(await fixture.history(key, resolution)).toEqual(bars)
      expect(await fixture.coverage(key)).toEqual(covered)
    },
  )

  test.for([
    [
      'UTF-16 with a mark, little end first',
      'M16LE',
      (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
    ],
    [
      'UTF-16 with a mark, big end first',
      'M16BE',
      (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    ],
    ['UTF-16 without a mark', 'N16LE', (text: string) => Buffer.from(text, 'utf16le')],
    ['UTF-8 with a mark', 'M8', (text: string) => Buffer.from(`\uFEFF${text}`)],
    ['lines that end in LF alone', 'LF', (text: string) => Buffer.from(text.replaceAll('\r\n', '\n'))],
  ] as const)('is read in %s', async ([, symbol, encode]) => {
    const path = fixture.write(encode(readFileSync(exported('GOOGL_D1.csv'), 'utf8')))
    expect(await importing(path, ...seriesOptions(symbol, '1D'))).toMatchObject(counts(googleDays().length))
    expect(await fixture.history(`BROKERA:ZERO:${symbol}`, '1D')).toEqual(googleDays())
  })

  test("is read as MT4's headerless lines, the last one without an end", async () => {
    const bars = minutes(monday, 300, 1.1, 5)
    const lines = bars.map(({ time, open, high, low, close, volume }) => {
      const at = new Date(time * 1000).toISOString()
      return [at.slice(0, 10).replaceAll('-', '.'), at.slice(11, 16), open, high, low, close, volume].join(
        ',',
      )
    })
    expect(await importing(fixture.write(lines.join('\n')), ...seriesOptions('MT4', '1'))).toMatchObject(
      counts(300),
    )
    expect(await fixture.history('BROKERA:ZERO:MT4', '1')).toEqual(bars)
  })
})

describe('the symbol', () => {
  const words = ['--type', 'crypto', '--description', 'Some coin']

  test('is added when the feed lacks it, with the digits of the file', async () => {
    const path = fixture.write(exportText(minutes(monday, 20, 190, 3)))
    expect(await importing(path, ...seriesOptions('COIN', '1'), ...words)).toMatchObject({ digits: 3 })
    expect(await fixture.symbol('BROKERA:ZERO:COIN')).toMatchObject({
      digits: 3,
      type: 'crypto',
      session: '24x7',
      description: 'Some coin (BROKERA ZERO)',
    })
  })

  test('has the digits of --digits', async () => {
    const path = fixture.write(exportText(minutes(monday, 20, 190, 2)))
    await importing(path, ...seriesOptions('ASKED', '1'), '--digits', '4')
    expect(await fixture.symbol('BROKERA:ZERO:ASKED')).toMatchObject({ digits: 4, type: 'cfd' })
  })

  test('keeps the digits of the manifest', async () => {
    const path = fixture.write(exportText(minutes(monday, 20, 1.1, 4)))
    expect(await importing(path, ...seriesOptions('EURUSD', '1'), '--digits', '3', ...words)).toMatchObject({
      digits: 5,
    })
    expect(await fixture.symbol('BROKERA:ZERO:EURUSD')).toMatchObject({ digits: 5, type: 'forex' })
  })

  test('is the given clean name: no suffix is removed, and its case is kept', async () => {
    const path = fixture.write(exportText(minutes(monday, 20, 1.1, 4)))
    await importing(path, ...seriesOptions('BRKb_CFD.US', '1'))
    expect(await fixture.history('BROKERA:ZERO:BRKb_CFD.US', '1')).toHaveLength(20)
    expect(await fixture.history('BROKERA:ZERO:BRKB_CFD.US', '1')).toHaveLength(0)
  })

  test('may have the half unit on a mid-quoted feed', async () => {
    const bars = minutes(monday, 20, 190.005, 3)
    expect(
      await importing(fixture.write(exportText(bars)), ...seriesOptions('HALF', '1', 'MID')),
    ).toMatchObject(counts(20))
    expect(await fixture.history('BROKERA:MID:HALF', '1')).toEqual(bars)
  })
})

describe('a bar that is stored already', () => {
  test('is replaced by an import, and that by a later import', async () => {
    const bars = minutes(monday, 200, 1.1, 5)
    const changed = bars.map((bar, i) => (i % 4 === 0 ? { ...bar, volume: bar.volume + 1 } : bar))
    const [first, second] = [fixture.write(exportText(bars)), fixture.write(exportText(changed))]
    await importing(first, ...seriesOptions('TWICE', '1'))
    expect(await importing(second, ...seriesOptions('TWICE', '1'))).toMatchObject(
      counts(0, { revised: 50, unchanged: 150 }),
    )
    expect(await fixture.history('BROKERA:ZERO:TWICE', '1')).toEqual(changed)
    expect(await importing(first, ...seriesOptions('TWICE', '1'))).toMatchObject(
      counts(0, { revised: 50, unchanged: 150 }),
    )
    expect(await fixture.history('BROKERA:ZERO:TWICE', '1')).toEqual(bars)
  })
})

describe('lines in any order', () => {
  test('are stored, and of duplicates the last, however far apart in the file', async () => {
    const bars = minutes(monday, 40_000, 1.1, 5)
    const wrong = bars.filter((_, i) => i % 1_000 === 0).map((bar) => ({ ...bar, volume: 1 }))
    // Lines newest first, after lines that later lines correct.
    const path = fixture.write(exportText([...wrong, ...bars.toReversed()]))
    const report = await importing(path, ...seriesOptions('ANYHOW', '1'))
    expect(report).toMatchObject(counts(40_000, { duplicates: 40 }))
    expect(await fixture.history('BROKERA:ZERO:ANYHOW', '1')).toEqual(bars)
    const again = await importing(path, ...seriesOptions('ANYHOW', '1'))
    expect(again).toMatchObject(counts(0, { unchanged: 40_000, duplicates: 40 }))
  })
})

describe('bars that have not closed', () => {
  const minuteNow = () => Math.floor(Date.now() / 60_000) * 60

  test('are reported as forming: not stored, not refused', async () => {
    const bars = minutes(minuteNow() - 9 * 60, 10, 1.1, 5)
    // The minute may have closed when the import runs.
    const { accepted, forming, refused } = await importing(
      fixture.write(exportText(bars)),
      ...seriesOptions('NOW', '1'),
    )
    expect(refused).toBe(0)
    expect([
      [9, 1],
      [10, 0],
    ]).toContainEqual([accepted, forming])
    expect(await fixture.history('BROKERA:ZERO:NOW', '1')).toEqual(bars.slice(0, Number(accepted)))
  })

  test('are the last ones of a delayed symbol, except those that a later bar closes', async () => {
    const bars = minutes(minuteNow() - 30 * 60, 25, 190, 2)
    const report = await importing(fixture.write(exportText(bars)), ...seriesOptions('SLOW', '1', 'LATE'))
    expect(report).toMatchObject(counts(24, { forming: 1 }))
  })

  test.for([
    ['is the last one of a file that was written before the bar ended', monday + 90, 1, 0],
    ['is the last one of a file that was written as the bar began', monday + 58, 1, 0],
    ['is not the last one of a file whose time of change is before that bar', 315_532_800, 0, 1],
    ['is not the last one of a file that was written after it', monday + 3_600, 0, 1],
  ] as const)('%s', async ([title, writtenAt, forming, derived]) => {
    const bars = minutes(monday, 2, 1.1, 5)
    const path = fixture.write(exportText(bars))
    utimesSync(path, writtenAt, writtenAt)
    const symbol = `W${title.length}`
    const report = await importing(path, ...seriesOptions(symbol, '1'), '--derive', '5')
    expect(report).toMatchObject({
      ...counts(2 - forming, { forming }),
      derived: { 5: { accepted: derived } },
    })
    expect(await fixture.history(`BROKERA:ZERO:${symbol}`, '1')).toEqual(bars.slice(0, 2 - forming))
  })

  test('is the last one while the clock is unknown, for any number of batches', async () => {
    const bars = minutes(monday, 12_000, 1.1, 5)
    const path = fixture.write(exportText(bars))
    const report = await importing(path, ...seriesOptions('EURUSD', '1', 'UNKNOWN'), '--derive', '60')
    expect(report).toMatchObject({
      ...counts(11_999, { forming: 1 }),
      derived: { 60: { forming: 1, refused: 0 } },
    })
    expect(await fixture.history('BROKERA:UNKNOWN:EURUSD', '1')).toEqual(bars.slice(0, -1))
    expect(await importing(path, ...seriesOptions('EURUSD', '1', 'UNKNOWN'))).toMatchObject(
      counts(0, { unchanged: 11_999, forming: 1 }),
    )
  })
})

test('of a file whose messages are cut at partitions, every bar but the last is stored while the clock is unknown', async () => {
  const years = Array.from({ length: 40 }, (_, i) => Date.UTC(1980 + i, 0, 8) / 1000)
  const bars = years.map((time) => ({ ...(minutes(monday, 1, 1.1, 5)[0] as Bar), time }))
  const report = await importing(fixture.write(dailyText(bars)), ...seriesOptions('YEARS', '1D', 'UNKNOWN'))
  expect(report).toMatchObject(counts(39, { forming: 1 }))
  expect(await fixture.history('BROKERA:UNKNOWN:YEARS', '1D')).toEqual(bars.slice(0, -1))
})

describe('windows', () => {
  test('end where neighbours are more than four days apart, for bars of days more than twelve', async () => {
    const part = (at: number) => minutes(at, 10, 1.1, 5)
    const [a, b, c] = [part(monday), part(monday + 4 * day), part(monday + 8 * day + 600)] as const
    const report = await importing(
      fixture.write(exportText([...a, ...b, ...c])),
      ...seriesOptions('GAPS', '1'),
    )
    expect(report['windows']).toEqual([
      { from: monday, to: monday + 4 * day + 600 },
      { from: monday + 8 * day + 600, to: monday + 8 * day + 1_200 },
    ])
    const days = [0, 12, 25].map((at) => ({ ...(a[0] as Bar), time: monday + at * day }))
    const daily = await importing(fixture.write(dailyText(days)), ...seriesOptions('DAYGAPS', '1D'))
    expect(daily['windows']).toEqual([
      { from: monday, to: monday + 13 * day },
      { from: monday + 25 * day, to: monday + 26 * day },
    ])
  })

  test('are the same for the lines in any order', async () => {
    const bars = [0, 6, 12].flatMap((at) => minutes(monday + at * day, 10, 1.1, 5))
    const report = await importing(
      fixture.write(exportText(bars.toReversed())),
      ...seriesOptions('GAPSANYHOW', '1'),
    )
    expect(report['windows']).toEqual(
      [0, 6, 12].map((at) => ({ from: monday + at * day, to: monday + at * day + 600 })),
    )
  })

  test('follow --max-gap', async () => {
    const bars = [...minutes(monday, 10, 1.1, 5), ...minutes(monday + 7_200, 10, 1.1, 5)]
    const report = await importing(
      fixture.write(exportText(bars)),
      ...seriesOptions('TIGHT', '1'),
      '--max-gap',
      '1h',
    )
    expect(report['windows']).toHaveLength(2)
  })
})

test('without --json the report is text, and progress goes to standard error', async () => {
  const path = fixture.write(
    exportText(minutes(monday, 20, 1.1, 5)) + line(minutes(monday, 1, 1.1, 5)[0] as Bar),
  )
  const { code, stdout, stderr } = await fixture.importingApart(path, ...seriesOptions('WORDS', '1'))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^BROKERA:ZERO:WORDS, resolution 1, 5 digits: 22 lines in \d+\.\d s \(/)
  expect(stdout).toMatch(/^ {2}accepted +20$/m)
  expect(stdout).toMatch(/^ {2}duplicates +1 \(the last line won\)$/m)
  expect(stdout).toMatch(/^ {2}covers 2024-01-08 00:00 to 2024-01-08 00:20$/m)
})
