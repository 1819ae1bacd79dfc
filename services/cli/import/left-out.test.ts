import { describe, expect, test } from 'vitest'
import { exportText, minutes } from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../core/feeds/compound-key.ts'
import { separateWindowsMax } from '../../ingest/check/check-window.ts'
import { silentLog } from '../../platform/log/log.ts'
import { systemClock } from '../../platform/system-clock.ts'
import { openEmbeddedStores } from '../../stores/embedded/open.ts'

useImportFixture({ ZERO: {} })

const monday = Date.UTC(2024, 0, 8) / 1000
const hour = 3_600

describe('a derived bar whose earlier minutes the file lacks', () => {
  test('is left out, listed by bucket and resolution, and the import exits with the code of partial success', async () => {
    const path = fixture.write(exportText(minutes(monday + 2 * hour + 600, 200, 1.1, 5)))
    const { code, stdout, stderr } = await fixture.importing(
      path,
      ...seriesOptions('HALFHOUR'),
      '--derive',
      '10,60,1D',
    )
    expect([code, stderr]).toEqual([
      65,
      'fxd: Derived bars were left out (1 of resolution 60, 1 of resolution 1D): the file has no good line for some of their minutes.\n',
    ])
    expect(stdout).toContain(
      '  derived 60: 3 accepted\n' +
        '    left out: the bar of resolution 60 at 2024-01-08 02:00; the file has no good line for some of its minutes\n',
    )
    expect(stdout).toContain('left out: the bar of resolution 1D at 2024-01-08 00:00')
    expect(stdout).not.toContain('bar of resolution 10 ')
    expect((await fixture.history('BROKERA:ZERO:HALFHOUR', '60')).map(({ time }) => time)).toEqual(
      [3, 4, 5].map((at) => monday + at * hour),
    )
  })

  test('is left out after a gap too', async () => {
    const bars = [...minutes(monday, 120, 1.1, 5), ...minutes(monday + 10 * hour + 60, 119, 1.1, 5)]
    const args = [...seriesOptions('GAP'), '--derive', '60', '--max-gap', '1h', '--json']
    const { code, json } = await fixture.importing(fixture.write(exportText(bars)), ...args)
    expect(code).toBe(65)
    expect(json['derived']).toMatchObject({
      60: { accepted: 3, incomplete: 1, incomplete_from: [monday + 10 * hour] },
    })
  })

  test('is left out when a line of it was refused, wherever that line is in the bar', async () => {
    const bars = minutes(monday, 300, 1.1, 5)
    const lines = exportText(bars).split('\r\n')
    const damage = (minute: number, to: (line: string) => string) => {
      lines[minute + 1] = to(lines[minute + 1] as string)
    }
    damage(10, (line) => line.replace('1.1', 'n/a'))
    damage(119, (line) => line.replace('1.1', '1,1'))
    damage(200, () => 'x')
    const args = [...seriesOptions('REFUSED'), '--derive', '5,60', '--json']
    const { code, json, stderr } = await fixture.importing(fixture.write(lines.join('\r\n')), ...args)
    const at = (minute: number) => monday + minute * 60
    expect(json['derived']).toMatchObject({
      5: { accepted: 57, incomplete: 3, incomplete_from: [at(10), at(115), at(200)] },
      60: { accepted: 2, incomplete: 3, incomplete_from: [at(0), at(60), at(180)] },
    })
    expect(code).toBe(65)
    expect(stderr).toContain(
      '(3 of resolution 5, 3 of resolution 60): the file has no good line for some of their minutes.',
    )
    expect((await fixture.history('BROKERA:ZERO:REFUSED', '60')).map(({ time }) => time)).toEqual([
      at(120),
      at(240),
    ])
  })

  test('is stored when another line of a file that does not ascend has the minute of the refused one', async () => {
    const bars = minutes(monday, 120, 1.1, 5)
    const lines = exportText(bars).trimEnd().split('\r\n')
    lines.push((lines[11] as string).replace('1.1', 'n/a'))
    const args = [...seriesOptions('TWICE'), '--derive', '60', '--json']
    const { json } = await fixture.importing(fixture.write(`${lines.join('\r\n')}\r\n`), ...args)
    expect(json).toMatchObject({ refused: 1, derived: { 60: { accepted: 2, incomplete: 0 } } })
  })

  test('does not exist when the file begins with its first minute', async () => {
    const path = fixture.write(exportText(minutes(monday, 120, 1.1, 5)))
    const { code, stderr } = await fixture.importing(path, ...seriesOptions('WHOLE'), '--derive', '5,60,1D')
    expect([code, stderr]).toEqual([0, ''])
  })
})

describe('lines with more decimals than the symbol', () => {
  const coarse = minutes(monday, 3_000, 1.1, 2)
  const after = (count: number) => minutes(monday + 3_000 * 60, count, 1.1, 3)

  test('at the end of a file decide its digits', async () => {
    const path = fixture.write(exportText([...coarse, ...after(20)]))
    const { code, stdout } = await fixture.importing(path, ...seriesOptions('LATER3'))
    expect([code, stdout.includes(', 3 digits:')]).toEqual([0, true])
    expect(await fixture.history('BROKERA:ZERO:LATER3', '1')).toHaveLength(3_020)
  })

  test('are refused where the symbol has fewer digits, and the end says which --digits accepts them', async () => {
    const path = fixture.write(exportText([...coarse, ...after(20)]))
    const { code, stderr } = await fixture.importing(path, ...seriesOptions('LATER2'), '--digits', '2')
    const fine = after(20).filter((bar) =>
      [bar.open, bar.high, bar.low, bar.close].some((price) => !/^\d\.\d{1,2}$/.test(String(price))),
    )
    expect([code, stderr]).toEqual([
      65,
      `fxd: ${fine.length} lines were refused; every other one is stored. ` +
        `${fine.length} of them have more decimals than the 2 digits of LATER2: --digits 3 accepts them, unless a manifest or collector lists LATER2.\n`,
    ])
    expect((await fixture.importing(path, ...seriesOptions('LATER2'), '--digits', '3')).code).toBe(0)
  })
})

describe('windows of derived bars', () => {
  const day = 24 * hour
  /** Minutes of whole days, counted from Monday. */
  const days = (from: number, to: number) => minutes(monday + from * day, ((to - from) * day) / 60, 1.1, 5)
  const windowsOf = async (name: string, derived = '1D'): Promise<number[][]> => {
    const spans: number[][] = []
    await fixture.restart(async (folder) => {
      const stores = await openEmbeddedStores({ folder, clock: systemClock, log: silentLog })
      const all = await stores.windows.of(feedKey('BROKERA', 'ZERO'))
      for (const { symbol, resolution, from, to } of all)
        if (resolution === derived && symbol?.endsWith(`:${name}`))
          spans.push([(from - monday) / day, (to - monday) / day])
      await stores.close()
    })
    return spans
  }
  const deriving = (name: string, bars: ReturnType<typeof minutes>) =>
    fixture.importing(fixture.write(exportText(bars)), ...seriesOptions(name), '--derive', '1D')

  test('leave out a gap of the minutes, and a day that the gap cut', async () => {
    await deriving('DAYS', [...days(0, 2), ...days(9 + 10 / 24, 11)])
    expect(await windowsOf('DAYS')).toEqual([
      [0, 2],
      [10, 11],
    ])
  })

  test('leave out each of very many gaps, and nothing else', async () => {
    const gaps = 300
    const bars = Array.from({ length: gaps }, (_, i) => minutes(monday + i * 4 * hour, 120, 1.1, 5))
    const path = fixture.write(exportText(bars.flat()))
    await fixture.importing(path, ...seriesOptions('GAPS'), '--derive', '60', '--max-gap', '1h')
    const hours = Array.from({ length: gaps }, (_, i) => [(i * 4) / 24, (i * 4 + 2) / 24])
    expect(await windowsOf('GAPS', '60')).toEqual(hours)
  })

  test('leave out a last day whose last minutes the next file may have', async () => {
    await deriving('CUT', days(0, 2.5))
    expect(await windowsOf('CUT')).toEqual([[0, 2]])
    expect(
      (await fixture.history('BROKERA:ZERO:CUT', '1D')).map(({ time }) => (time - monday) / day),
    ).toEqual([0, 1, 2])
  })
})

describe('a single line with more decimals than all others', () => {
  const bars = minutes(monday, 30, 1.1, 5)
  const text = exportText(bars)
  const odd = (at: number): string => {
    const lines = text.split('\r\n')
    const cells = (lines[at - 1] as string).split('\t')
    cells[5] = `${cells[5]}01`
    lines[at - 1] = cells.join('\t')
    return lines.join('\r\n')
  }

  test.for([2, 17, 31])('in line %i does not decide the digits, and the report says so', async (at) => {
    const { code, stdout } = await fixture.importing(fixture.write(odd(at)), ...seriesOptions(`ODD${at}`))
    expect(code).toBe(65)
    expect(stdout).toContain(`, resolution 1, 5 digits:`)
    expect(stdout).toContain(
      `line ${at} alone has 7 decimals, so it does not decide the digits: they are 5; --digits sets them`,
    )
    expect(await fixture.symbol(`BROKERA:ZERO:ODD${at}`)).toMatchObject({ digits: 5 })
    expect(await fixture.history(`BROKERA:ZERO:ODD${at}`, '1')).toHaveLength(29)
  })

  test('decides when --digits allows its decimals', async () => {
    const { code, stdout } = await fixture.importing(
      fixture.write(odd(9)),
      ...seriesOptions('SEVEN'),
      '--digits',
      '7',
    )
    expect([code, stdout.includes('alone has')]).toEqual([0, false])
    expect(await fixture.history('BROKERA:ZERO:SEVEN', '1')).toHaveLength(30)
  })
})

test('a range of coverage that the service refuses is named, and all bars and the other ranges are stored', async () => {
  const feed = feedKey('BROKERA', 'ZERO')
  const symbol = compoundKey(feed, 'RANGES')
  const past = Array.from({ length: separateWindowsMax - 1 }, (_, i) => {
    const from = feedSeconds(monday - (i + 1) * 7_200)
    return { feed, symbol, resolution: '1' as const, from, to: feedSeconds(from + 60) }
  })
  await fixture.restart(async (folder) => {
    const stores = await openEmbeddedStores({ folder, clock: systemClock, log: silentLog })
    await stores.windows.add(past)
    await stores.close()
  })
  const apart = [0, 2, 4].map((days) => minutes(monday + days * 86_400, 10, 1.1, 5))
  const args = [...seriesOptions('RANGES'), '--max-gap', '1h', '--json']
  const { code, stderr, json } = await fixture.importing(fixture.write(exportText(apart.flat())), ...args)
  expect(code).toBe(65)
  expect(stderr).toMatch(
    /^fxd: Coverage does not show 2 of the stored ranges \(first reason: .* has 10000 separate windows/,
  )
  expect(json).toMatchObject({ accepted: 30, refused_windows: { count: 2 } })
  expect(json['windows']).toHaveLength(1)
  expect(await fixture.history('BROKERA:ZERO:RANGES', '1')).toHaveLength(30)
})
