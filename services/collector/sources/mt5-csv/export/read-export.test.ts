import { appendFile, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { barAt, barCount, type RevisedBar, toList } from '../../../../core/bars/bar.ts'
import type { Resolution } from '../../../../core/feeds/resolution.ts'
import { LayoutError } from './layout.ts'
import { type BadLine, fileStart, type Position, type ReadOptions, readExport } from './read-export.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'fxd-csv-'))))
afterAll(() => rm(folder, { recursive: true }))

interface Read {
  bars: RevisedBar[]
  lines: number[]
  decimals: number[]
  bad: BadLine[]
  position: Position
}

async function readFile(path: string, options: ReadOptions): Promise<Read> {
  const read: Read = {
    bars: [],
    lines: [],
    decimals: [],
    bad: [],
    position: undefined as unknown as Position,
  }
  const chunks = readExport(path, options)
  for (;;) {
    const { done, value } = await chunks.next()
    if (done) return { ...read, position: value }
    read.bars.push(...toList(value.bars))
    read.lines.push(...value.lines)
    read.decimals.push(...value.decimals)
    read.bad.push(...value.bad)
  }
}

async function readText(
  content: string | Buffer,
  resolution: Resolution = '1',
  finished = true,
): Promise<Read> {
  const path = join(folder, 'export.csv')
  await writeFile(path, content)
  return readFile(path, { resolution, finished })
}

const header = '<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>'
const lineAt = (time: string) => `2024.03.08\t${time}\t1.09321\t1.09330\t1.09318\t1.09327\t42\t0\t3`
const first: RevisedBar = {
  time: (Date.UTC(2024, 2, 8, 13, 1) / 1000) as RevisedBar['time'],
  open: 1.09321,
  high: 1.0933,
  low: 1.09318,
  close: 1.09327,
  volume: 42,
  revision: 0,
}

describe('all forms of an export are read to the same bars', () => {
  const text = `${header}\r\n${lineAt('13:01:00')}\r\n${lineAt('13:02:00')}\r\n`
  const mt4 = text
    .slice(header.length + 2)
    .replaceAll(':00\t', '\t')
    .replaceAll('\t0\t3', '')
    .replaceAll('\t', ',')
  const utf16be = (s: string) => Buffer.from(s, 'utf16le').swap16()
  test.each<[string, string | Buffer]>([
    ['UTF-8 with CRLF', text],
    ['UTF-8 with LF', text.replaceAll('\r', '')],
    ['UTF-8 with a mark', `\ufeff${text}`],
    ['UTF-16 little endian with a mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 little endian without a mark', Buffer.from(text, 'utf16le')],
    ['UTF-16 big endian with a mark', utf16be(`\ufeff${text}`)],
    ['times without seconds', text.replaceAll(':00\t', '\t')],
    ['a last line without its line end', text.slice(0, -2)],
    ['commas', text.replaceAll('\t', ',')],
    ['semicolons', text.replaceAll('\t', ';')],
    ['a separator at the end of each line', text.replaceAll('\r', '\t\r')],
    ['volumes as floats', text.replaceAll('\t42\t', '\t42.0\t')],
    ['a header of words', text.replaceAll(/[<>]/g, '').replace('TICKVOL', 'Tick Volume')],
    ["a header of words above MT4's lines", `Date,Time,Open,High,Low,Close,Volume\n${mt4}`],
    ["MT4's lines with semicolons", mt4.replaceAll(',', ';')],
    ["MT4's lines with a comma at the end", mt4.replaceAll('\r', ',\r')],
    ["MT4's lines with date and time in one column", mt4.replaceAll('08,', '08 ')],
    ['the same below a header of words', `Date,Open,High,Low,Close,Volume\n${mt4.replaceAll('08,', '08 ')}`],
    ['blank lines between', text.replace('\r\n2024', '\r\n\r\n2024')],
    ["MT4's headerless comma form", mt4],
  ])('%s', async (_, content) => {
    const { bars, bad } = await readText(content)
    expect(bad).toEqual([])
    expect(bars).toEqual([first, { ...first, time: first.time + 60 }])
  })
})

test('the real exports are read completely', async () => {
  const count = async (name: string, resolution: Resolution) => {
    const { bars, bad } = await readFile(join(import.meta.dirname, '../../../../../test/data', name), {
      resolution,
    })
    return [bars.length, bad.length]
  }
  expect(await count('BTCUSD_M1_201311.csv', '1')).toEqual([9_399, 0])
  expect(await count('EURUSD_H1_2017.csv', '60')).toEqual([6_225, 0])
  expect(await count('GOOGL_D1.csv', '1D')).toEqual([2_335, 0])
})

describe('a file that is no export is rejected with what was found and what is wanted', () => {
  test.each<[string, string, Resolution, RegExp]>([
    [
      'wrong separator',
      header.replaceAll('\t', '|'),
      '1',
      /separated by "\|"; an MT5 export separates them by tabs/,
    ],
    ['missing column', header.replace('<CLOSE>\t', ''), '1', /Column <CLOSE> is missing/],
    [
      'missing time',
      header.replace('<TIME>\t', ''),
      '1',
      /Column <TIME> is missing, which bars of resolution 1 need/,
    ],
    ['other order', header.replace('<OPEN>\t<HIGH>', '<HIGH>\t<OPEN>'), '1', /in this order/],
    [
      'decimal commas without a header',
      '2024.03.08,13:01,1,09321,1,09330,1,09318,1,09327,42',
      '1',
      /decimal commas/,
    ],
    [
      'thousands separators without a header',
      '2024.03.08,13:01,1,093.21,1,093.30,1,093.18,1,093.27,42',
      '1',
      /11 columns, as with thousands separators; prices need plain numbers/,
    ],
    ['a header of other words', 'Name,Phone\na,1', '1', /Column <DATE>, <OPEN>, .* is missing/],
    [
      'a header of words in another order',
      'Date,Time,Close,Open,High,Low,Volume',
      '1',
      /are not those of an MT5 export: .*, in this order/,
    ],
    ['another text', 'hello world', '1', /The first line has 11 characters; wanted is MT5's header/],
    ['one endless line', 'x'.repeat(3 << 20), '1', /longer than 131072 bytes/],
  ])('%s', async (_, content, resolution, message) => {
    await expect(readText(content, resolution)).rejects.toThrow(LayoutError)
    await expect(readText(content, resolution)).rejects.toThrow(message)
  })
})

test('good lines of a damaged file are read, and each bad one is reported with number and reason', async () => {
  const damage: [string, RegExp][] = [
    [lineAt('13:02:00').replace('1.09330', '1,09330'), /high is "1,09330" \(a decimal comma/],
    [lineAt('25:00:00'), /time is "25:00:00"/],
    [lineAt('13:02:00').replace('1.09330', '1,093.30'), /high is "1,093.30" \(with thousands separators\)/],
    [lineAt('13:02:00').replace('1.09330', '1 093.30'), /high is "1 093.30" \(with thousands separators\)/],
    [lineAt('13:02:00').replace('\t42', '\t42.5'), /volume is "42.5"; wanted is a whole number/],
    [lineAt('13:02:00').replace('\t42', '\t42.'), /volume is "42."; wanted is a plain number/],
    [lineAt('13:03:00').replace('03.08', '02.30'), /date is "2024.02.30"/],
    [lineAt('13:04:00').replace('1.09327', 'NaN'), /close is "NaN"/],
    [lineAt('13:05:00').replace('\t42', '\t-42'), /volume is "-42"/],
    [`${lineAt('13:06:00')}\t9`, /10 columns/],
    ['2024.03.08\t13:07:00\t1.1', /high is missing/],
    [lineAt('13:08:00').replace('1.09321', '1e5'), /open is "1e5"/],
    [lineAt('13:08:00').replace('1.09321', '.'), /open is "."/],
    [lineAt('13:08:00').replace('1.09318', '-'), /low is "-"/],
    [lineAt('13:08:00').replace('1.09318', '--1'), /low is "--1"/],
    [lineAt('13:09:00').replace('1.09321', `${'9'.repeat(30)}`), /open is "9+"/],
    [lineAt('23:59:00').replace('2024.03.08', '1969.12.31'), /date is "1969.12.31"; wanted is 1970.01.01 to/],
    [lineAt('23:48:00').replace('2024.03.08', '2255.06.05'), /date is "2255.06.05"/],
    [lineAt('13:10:00').replace('2024', '9999'), /date is "9999.03.08"/],
  ]
  const { bars, bad } = await readText(
    `${header}\n${lineAt('13:01:00')}\n${damage.map(([line]) => line).join('\n')}\n`,
  )
  expect(bars).toEqual([first])
  expect(bad.map(({ line }) => line)).toEqual(damage.map((_, index) => index + 3))
  for (const [index, { reason }] of bad.entries()) expect(reason).toMatch(damage[index]?.[1] as RegExp)
})

test('all of thousands of bad lines are reported, and the first ones of each piece are described', async () => {
  const path = join(folder, 'garbage.csv')
  await writeFile(path, `2024.01.08,00:00,1.1,1.2,1.0,1.1,5\r\n${'x\n'.repeat(5_000)}`)
  const { bad } = await readFile(path, { resolution: '1' })
  expect(bad.map(({ line }) => line)).toEqual(Array.from({ length: 5_000 }, (_, i) => i + 2))
  expect(new Set(bad.slice(0, 1_000).map(({ reason }) => reason))).toEqual(
    new Set(['the date is "x"; wanted is YYYY.MM.DD']),
  )
  expect(bad.at(-1)?.reason).toBe('it is rejected, like many lines before it')
})

test('an empty file has no bars and no layout', async () => {
  const { bars, position } = await readText('')
  expect([bars, position.layout]).toEqual([[], undefined])
})

test('a last line without a line end is read once it is complete', async () => {
  const path = join(folder, 'followed.csv')
  await writeFile(path, `${header}\r\n${lineAt('13:01:00')}\r\n${lineAt('13:02:00').slice(0, 30)}`)
  const one = await readFile(path, { resolution: '1' })
  expect(one.bars).toEqual([first])
  await appendFile(path, `${lineAt('13:02:00').slice(30)}\r\n`)
  const two = await readFile(path, { resolution: '1', from: one.position })
  expect(two.bars).toEqual([{ ...first, time: first.time + 60 }])
  expect(two.lines).toEqual([3])
  await truncate(path, 10)
})

test('a file of many chunks is read like one of a single chunk', async () => {
  const rows = 60_000
  const price = (i: number) => (1 + (i % 977) / 100_000).toFixed(5)
  const time = (i: number) =>
    `${String(Math.floor(i / 60) % 24).padStart(2, '0')}:${String(i % 60).padStart(2, '0')}`
  const line = (i: number) =>
    `2024.03.08\t${time(i)}\t${price(i)}\t${price(i)}\t${price(i)}\t${price(i)}\t${i}\t0\t0`
  const { bars, lines, decimals } = await readText(
    `${header}\r\n${Array.from({ length: rows }, (_, i) => `${line(i)}\r\n`).join('')}`,
  )
  expect(bars).toHaveLength(rows)
  expect(
    bars.every((bar, i) => bar.volume === i && bar.open === Number(price(i)) && lines[i] === i + 2),
  ).toBe(true)
  expect(new Set(decimals)).toEqual(new Set([5]))
})

test('every printed price is read as exactly the double that the text means', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: -10_000_000, max: 10_000_000 }), fc.integer({ min: 0, max: 8 })), {
        minLength: 1,
        maxLength: 50,
      }),
      async (prices) => {
        const texts = prices.map(([points, decimals]) => (points / 10 ** decimals).toFixed(decimals))
        const { bars } = await readText(
          `${header}\n${texts.map((p) => `2024.03.08\t13:01\t${p}\t${p}\t${p}\t${p}\t1\t0\t0\n`).join('')}`,
        )
        expect(bars.map((bar) => bar.close)).toEqual(texts.map(Number))
      },
    ),
    { numRuns: 20 },
  )
})

test('a minus sign is read, and a zero has no sign', async () => {
  const line = '2020.04.20\t18:15\t-37.63\t0.00\t-40.32\t-0.00\t7\t0\t0\n'
  const { bars, bad } = await readText(`${header}\n${line}`)
  expect(bad).toEqual([])
  expect(bars).toMatchObject([{ open: -37.63, high: 0, low: -40.32, close: 0 }])
  expect(Object.is(bars[0]?.close, 0)).toBe(true)
})

test('any bytes are read as bars or bad lines, or the file is rejected', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.boolean(), async (bytes, withHeader) => {
      const content = Buffer.concat([Buffer.from(withHeader ? `${header}\r\n` : ''), bytes])
      const read = await readText(content).catch((error: unknown) => error)
      if (!(read instanceof LayoutError)) expect(read).toHaveProperty('bars')
    }),
    { numRuns: 200 },
  )
})

test('columns are views of one chunk', async () => {
  const path = join(folder, 'one.csv')
  await writeFile(path, `${header}\n${lineAt('13:01:00')}\n`)
  const chunks = readExport(path, { resolution: '1' })
  const { value } = await chunks.next()
  await chunks.return(fileStart)
  expect(value && 'bars' in value && [barCount(value.bars), barAt(value.bars, 0)]).toEqual([1, first])
})

test('a file that is read at its first bytes gets its encoding once more bytes are there', async () => {
  const path = join(folder, 'begun.csv')
  const text = `${header}\r\n${lineAt('13:01:00')}\r\n`
  for (const content of [Buffer.from(`\ufeff${text}`, 'utf16le'), Buffer.from(text, 'utf16le')]) {
    for (const begun of [0, 1, 2, 3]) {
      await writeFile(path, content.subarray(0, begun))
      const { position } = await readFile(path, { resolution: '1' })
      await appendFile(path, content.subarray(begun))
      expect((await readFile(path, { resolution: '1', from: position })).bars).toEqual([first])
    }
  }
})
