import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Bar, dailyText, exportText, line, minutes } from '../../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  ZERO: { clock: { mode: 'Fixed', offsetSeconds: -10_800 } },
})

const isUnknown = async (symbol: string): Promise<boolean> =>
  (await fixture.symbol(`BROKERA:ZERO:${symbol}`))['error'] !== undefined

const reasonsOf = (json: Record<string, unknown>): string[] =>
  (json['refusals'] as { reason: string }[]).map(({ reason }) => reason)

const bars = minutes(Date.UTC(2024, 0, 8) / 1000, 30, 1.1, 5)
const good = exportText(bars)
const header = good.slice(0, good.indexOf('\r\n'))
/** The export with some lines replaced, by number; the header is line 1. */
const withLines = (changes: Readonly<Record<number, string>>): string =>
  good
    .split('\r\n')
    .map((text, i) => changes[i + 1] ?? text)
    .join('\r\n')
const cells = (number: number): string[] => (good.split('\r\n')[number - 1] ?? '').split('\t')
/** The line with one cell changed: 0 is the date, 2 to 5 are the prices, 6 is the volume. */
const cell = (number: number, at: number, text: string): string => cells(number).with(at, text).join('\t')

describe('a file that is not an export stores no bar, adds no symbol and exits with 66', () => {
  test.for([
    ['columns separated by bars', good.replaceAll('\t', '|'), /separated by "\|".*separates them by tabs/],
    ['a missing column', good.replace('<CLOSE>\t', ''), /Column <CLOSE> is missing/],
    ['minutes without a time column', dailyText(bars), /Column <TIME> is missing/],
    ['columns in another order', good.replace('<HIGH>\t<LOW>', '<LOW>\t<HIGH>'), /in this order/],
    ["decimal commas in MT4's form", '2024.01.08,00:00,1,10,1,20,1,05,1,15,17\n', /as with decimal commas/],
    ['no bytes at all', '', /is empty; there is nothing to import/],
    ['blank lines alone', '\r\n\r\n \r\n', /is empty; there is nothing to import/],
    ['a header alone', `${header}\r\n`, /has a header and no bars/],
    ['a page of HTML', '<!DOCTYPE html>\n<html>\n', /cannot be read as an export/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /cannot be read as an export/],
    ['a gzip file', gzipSync(good), /is compressed with gzip; unpack it/],
    [
      'UTF-32',
      Buffer.from(Uint32Array.from(header, (each) => each.charCodeAt(0)).buffer),
      /cannot be read as/,
    ],
    [
      'one endless line',
      `${header.replaceAll('\t', ' ')}${'x'.repeat(3_000_000)}`,
      /cannot be read as an export/,
    ],
  ] as const)('%s', async ([, content, sentence]) => {
    const path = fixture.write(content)
    const { code, stdout, stderr } = await fixture.importing(path, ...seriesOptions('NEVER'), '--json')
    expect([code, stdout]).toEqual([66, ''])
    expect(stderr).toMatch(sentence)
    expect(stderr).toContain(path)
    expect(await isUnknown('NEVER')).toBe(true)
  })

  test('a line longer than in any export, after good ones', async () => {
    const path = fixture.write(good + 'x'.repeat(3_000_000))
    const { code, stderr } = await fixture.importing(path, ...seriesOptions('ENDLESS'))
    expect([code, stderr]).toEqual([66, expect.stringMatching(/Line 32 is longer than/)])
  })

  test('a folder, a device and a missing file', async () => {
    mkdirSync(join(fixture.folder, 'some-folder'))
    for (const [path, sentence] of [
      [join(fixture.folder, 'some-folder'), 'is a folder'],
      ['/dev/null', 'is no regular file'],
      [join(fixture.folder, 'not-there.csv'), 'does not exist'],
      [join(fixture.folder, 'not-there/some.csv'), 'does not exist'],
    ] as const) {
      const { code, stderr } = await fixture.importing(path, ...seriesOptions('NEVER'))
      expect([code, stderr]).toEqual([66, expect.stringContaining(`${path} ${sentence}`)])
    }
  })
})

describe('a damaged file: its good lines are stored, the bad ones are listed, and it exits with 65', () => {
  const far = line({ ...(bars[5] as Bar), time: Date.UTC(2099, 0, 1) / 1000 }).trimEnd()
  const old = line({ ...(bars[5] as Bar), time: -60 }).trimEnd()

  test.for([
    ['a decimal comma', cell(7, 3, '1,2'), /high is "1,2".*decimal comma.*decimal point/],
    ['a word for a price', cell(7, 2, 'n/a'), /open is "n\/a"/],
    ['a missing price', cell(7, 2, ''), /open is missing/],
    ['a sign without a number', cell(7, 4, '-'), /low is "-"/],
    ['a high below the open', cell(7, 3, '1.0'), /high: got 1, wanted at least open/],
    ['more decimals than the symbol has', cell(7, 5, '1.100001'), /got 6 decimals, wanted at most 5/],
    ['a volume with decimals', cell(7, 6, '1.5'), /volume is "1.5"; wanted is a whole number$/],
    ['a negative volume', cell(7, 6, '-3'), /volume is "-3"; wanted is 0 or more$/],
    ['a word for a volume', cell(7, 6, 'n/a'), /volume is "n\/a"; wanted is a plain number$/],
    ['a date that does not exist', cell(7, 0, '2024.02.30'), /date is "2024.02.30"/],
    ['a time off the grid', cell(7, 1, '00:05:30'), /multiple of 60 s/],
    ['a time that does not exist', cell(7, 1, '25:00:00'), /time is "25:00:00"/],
    ['a time in the future', far, /now on the feed's clock/],
    ['a time before 1970', old, /1970/],
    ['a cut line', '2024.01.08\t00:0', /time is "00:0"/],
    ['one column too many', `${cells(7).join('\t')}\t1`, /columns/],
    ['bytes that are no text', '\uFFFD\u001b[2J\u009b\u0000', /^[\x20-\x7e]*$/],
  ] as const)('%s', async ([name, text, reason]) => {
    const symbol = `BAD${name.replaceAll(/\W/g, '')}`
    const path = fixture.write(withLines({ 7: text }))
    const { code, json, stderr } = await fixture.importing(
      path,
      ...seriesOptions(symbol),
      '--digits',
      '5',
      '--json',
    )
    expect([code, stderr]).toEqual([65, 'fxd: 1 line was refused; every other one is stored.\n'])
    expect(json).toMatchObject({ accepted: 29, refused: 1, refusals: [{ line: 7 }] })
    expect(reasonsOf(json)).toEqual([expect.stringMatching(reason)])
    expect(await fixture.history(`BROKERA:ZERO:${symbol}`, '1')).toEqual(bars.toSpliced(5, 1))
  })

  test('no window includes a refused line, or times between the neighbours of one without a readable time', async () => {
    const text = withLines({ 7: cell(7, 3, 'n/a'), 12: cell(12, 4, '9'), 20: 'x', 21: '2024.01.08' })
    const { code, json } = await fixture.importing(
      fixture.write(text),
      ...seriesOptions('HOLES'),
      '--derive',
      '5',
      '--json',
    )
    expect([code, json['refused']]).toEqual([65, 4])
    const at = (minute: number): number => (bars[0]?.time ?? 0) + minute * 60
    expect(json['windows']).toEqual([
      { from: at(0), to: at(5) },
      { from: at(6), to: at(10) },
      { from: at(11), to: at(18) },
      { from: at(20), to: at(30) },
    ])
    expect(await fixture.coverage('BROKERA:ZERO:HOLES')).toHaveLength(4)
  })

  test('a refused line outside of the times of a window does not divide it', async () => {
    const path = fixture.write(withLines({ 7: far, 8: old }))
    const { json } = await fixture.importing(path, ...seriesOptions('NOWINDOW'), '--json')
    expect(json).toMatchObject({
      refused: 2,
      windows: [{ from: bars[0]?.time, to: (bars[29]?.time ?? 0) + 60 }],
    })
  })

  test('a bad line never replaces a good one of the same time', async () => {
    const path = fixture.write(good + cell(7, 3, '1.0'))
    const { code, json } = await fixture.importing(path, ...seriesOptions('INSTEAD'), '--json')
    expect(code).toBe(65)
    expect(json).toMatchObject({ accepted: 30, duplicates: 0, refusals: [{ line: 32 }] })
    expect(await fixture.history('BROKERA:ZERO:INSTEAD', '1')).toEqual(bars)
  })

  test('a second import changes nothing', async () => {
    const path = fixture.write(withLines({ 3: 'x', 12: far, 20: cell(20, 2, '0') }))
    await fixture.importing(path, ...seriesOptions('ONCEMORE'))
    const { json } = await fixture.importing(path, ...seriesOptions('ONCEMORE'), '--json')
    expect(json).toMatchObject({ accepted: 0, revised: 0, unchanged: 27, refused: 3 })
  })

  test('a file with only decimal commas has no bar, so no symbol is added', async () => {
    const path = fixture.write(
      good.replaceAll(/(\d)\.(\d+\t)/g, (_, a: string, b: string) =>
        b.length > 3 ? `${a},${b}` : `${a}.${b}`,
      ),
    )
    const { code, json } = await fixture.importing(path, ...seriesOptions('COMMAS'), '--json')
    expect([code, json['accepted']]).toEqual([65, 0])
    expect(json['refused']).toBe(30)
    expect(await isUnknown('COMMAS')).toBe(true)
  })

  test('good lines behind a megabyte of bad ones are stored', async () => {
    const [first = '', ...rest] = good.split('\r\n')
    const bad = Array.from({ length: 30_000 }, () => cell(2, 3, '1,2'))
    const path = fixture.write([first, ...bad, ...rest].join('\r\n'))
    const { code, json } = await fixture.importing(path, ...seriesOptions('LATER'), '--json')
    expect([code, json['accepted'], json['refused']]).toEqual([65, 30, 30_000])
  })

  test('a person sees the first twenty bad lines and how many more there are', async () => {
    const bad = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [i + 3, `bad ${i}`]))
    const { stdout } = await fixture.importing(fixture.write(withLines(bad)), ...seriesOptions('MANY'))
    expect(stdout.match(/^ {4}line \d+: /gm)).toHaveLength(20)
    expect(stdout).toMatch(/^ {4}line 3: the date is "bad 0"/m)
    expect(stdout).toMatch(/^ {4}and 5 more$/m)
  })

  test('a program gets the first thousand', async () => {
    const text = good + 'bad\r\n'.repeat(2_500)
    const { json } = await fixture.importing(fixture.write(text), ...seriesOptions('THOUSANDS'), '--json')
    expect(json).toMatchObject({ accepted: 30, refused: 2_500 })
    expect((json['refusals'] as unknown[]).length).toBe(1_000)
  })
})
