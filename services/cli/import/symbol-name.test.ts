import { describe, expect, test } from 'vitest'
import { exportText, minutes } from '../../../test/acceptance/client/bars.ts'
import { fixture, seriesOptions, useImportFixture } from '../../../test/support/fixtures/import-fixture.ts'

useImportFixture({
  ZERO: {
    symbols: { suffixes: ['.z'], list: [{ raw: 'EURUSD.z', type: 'forex', digits: 5 }] },
    retention: { '1': '3650d' },
  },
  NAMED: {
    symbols: {
      suffixes: ['.z'],
      list: [
        { raw: 'Volatility 75 Index', name: 'VOL75', type: 'index', digits: 5 },
        { raw: 'Quartz.z', name: 'Quartz.z', type: 'cfd', digits: 5 },
      ],
    },
  },
})

const monday = Date.UTC(2024, 0, 8) / 1000
const bars = minutes(monday, 20, 1.1, 5)
const symbolsOf = async (): Promise<unknown> => {
  const { json } = await fixture.running('feeds', 'show', 'BROKERA:ZERO', '--json')
  return json['symbols']
}
const importing = (symbol: string, text = exportText(bars)) =>
  fixture.importing(fixture.write(text), ...seriesOptions(symbol))

describe('a name with a suffix of its feed', () => {
  test('is refused with its clean name, and no symbol is added', async () => {
    const { code, stderr } = await importing('GBPUSD.z')
    expect([code, stderr]).toEqual([
      1,
      'fxd: symbol: got "GBPUSD.z", wanted "GBPUSD": ".z" is a suffix of the raw names of BROKERA:ZERO.\n',
    ])
    expect(await symbolsOf()).toEqual(['BROKERA:ZERO:EURUSD'])
  })
})

test('a name with single spaces is stored, served, shown and removed', async () => {
  const name = 'Boom 500 (1s) Index'
  expect(await importing(name)).toMatchObject({ code: 0, stderr: '' })
  expect(await fixture.history(`BROKERA:ZERO:${name}`, '1')).toEqual(bars)
  expect(await fixture.symbol(`BROKERA:ZERO:${name}`)).toMatchObject({ display_symbol: name })
  expect(await symbolsOf()).toContain(`BROKERA:ZERO:${name}`)
  const removed = await fixture.running('symbols', 'remove', 'BROKERA:ZERO', name)
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringContaining(`${name} is removed`) as string })
})

test('a name with colons is a name, and a compound key is none', async () => {
  expect(await importing('A:B')).toMatchObject({ code: 0, stderr: '' })
  expect(await fixture.history('BROKERA:ZERO:A:B', '1')).toEqual(bars)
  await fixture.running('symbols', 'remove', 'BROKERA:ZERO', 'A:B')
  expect(await importing('BROKERA:LIVE:B')).toMatchObject({ code: 64 })
})

test('a symbol with a clean name of the manifest is imported under that name only', async () => {
  const file = fixture.write(exportText(bars))
  const named = (symbol: string) => fixture.importing(file, ...seriesOptions(symbol, '1', 'NAMED'))
  expect(await named('Volatility 75 Index')).toMatchObject({
    code: 1,
    stderr:
      'fxd: symbol: got "Volatility 75 Index", wanted "VOL75": the manifest gives this raw name of BROKERA:NAMED that name.\n',
  })
  for (const name of ['VOL75', 'Quartz.z']) {
    expect(await named(name)).toMatchObject({ code: 0, stderr: '' })
    expect(await fixture.history(`BROKERA:NAMED:${name}`, '1')).toEqual(bars)
  }
  const { json } = await fixture.running('feeds', 'show', 'BROKERA:NAMED', '--json')
  expect(json['symbols']).toEqual(['BROKERA:NAMED:Quartz.z', 'BROKERA:NAMED:VOL75'])
})

describe('a symbol whose bars are all refused', () => {
  test('is not added when no line is a bar', async () => {
    const odd = exportText(bars.map((bar) => ({ ...bar, high: bar.low - 1 })))
    const { code, stderr } = await importing('ODD', odd)
    expect([code, stderr]).toEqual([65, 'fxd: 20 lines were refused; none is stored.\n'])
    expect(await symbolsOf()).toEqual(['BROKERA:ZERO:EURUSD'])
  })

  test('is not added when only the service refuses them', async () => {
    const past = minutes(Date.UTC(2001, 0, 8) / 1000, 20, 1.1, 5)
    expect(await importing('PAST', exportText(past))).toMatchObject({ code: 65 })
    expect(await symbolsOf()).toEqual(['BROKERA:ZERO:EURUSD'])
  })

  test('is added with its first good bar, windows and derived bars included', async () => {
    const good = minutes(monday, 60, 1.1, 5)
    const { code, stderr } = await fixture.importing(
      fixture.write(exportText(good)),
      ...seriesOptions('GOOD'),
      '--derive',
      '5',
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(await symbolsOf()).toEqual(['BROKERA:ZERO:EURUSD', 'BROKERA:ZERO:GOOD'])
    expect(await fixture.coverage('BROKERA:ZERO:GOOD')).toEqual([{ from: monday, to: monday + 59 * 60 }])
    expect(await fixture.history('BROKERA:ZERO:GOOD', '5')).toHaveLength(12)
  })
})

test('feeds show names the resolutions of which a symbol has no bars', async () => {
  await importing('PART')
  const { stdout } = await fixture.running('feeds', 'show', 'BROKERA:ZERO')
  const others = '5, 10, 15, 60, 120, 240, 1D, 1W, 1M'
  expect(stdout).toContain(`\nBROKERA:ZERO:PART  (no bars of ${others})\n`)
  const { json } = await fixture.running('feeds', 'show', 'BROKERA:ZERO', '--json')
  expect(json['resolutions_without_bars']).toMatchObject({ 'BROKERA:ZERO:PART': others.split(', ') })
})

describe('symbols remove', () => {
  const remove = (feed: string, symbol: string) => fixture.running('symbols', 'remove', feed, symbol)

  test('removes a mistyped import; an import under the same name serves its bars again', async () => {
    await importing('EURSUD')
    expect(await symbolsOf()).toContain('BROKERA:ZERO:EURSUD')
    expect(await remove('BROKERA:ZERO', 'EURSUD')).toMatchObject({
      code: 0,
      stdout: 'BROKERA:ZERO:EURSUD is removed. The bars of 1 series stay stored and are no longer served.\n',
    })
    expect(await symbolsOf()).not.toContain('BROKERA:ZERO:EURSUD')
    await expect(fixture.history('BROKERA:ZERO:EURSUD', '1')).resolves.toEqual([])
    const again = await importing('EURSUD')
    expect(again.stdout).toMatch(/unchanged +20/)
    expect(await fixture.history('BROKERA:ZERO:EURSUD', '1')).toEqual(bars)
  })

  test('refuses a symbol of the manifest and names what lists it', async () => {
    expect(await remove('BROKERA:ZERO', 'EURUSD')).toMatchObject({
      code: 1,
      stderr:
        'fxd: The Feed manifest of BROKERA:ZERO lists "EURUSD.z"; remove it from its spec.symbols.list first.\n',
    })
  })

  test('of a hidden name with bars exits with 1; --hidden frees the others, and needs no symbol', async () => {
    await importing('EURSUD')
    await remove('BROKERA:ZERO', 'EURSUD')
    expect(await remove('BROKERA:ZERO', 'EURSUD')).toMatchObject({
      code: 1,
      stderr:
        'fxd: BROKERA:ZERO:EURSUD is hidden already and has stored bars; only "fxd feeds purge" removes bars.\n',
    })
    expect(await fixture.running('symbols', 'remove', 'BROKERA:ZERO', '--hidden')).toMatchObject({
      code: 0,
      stdout: '0 hidden names of BROKERA:ZERO without bars freed.\n',
    })
    expect(await fixture.running('symbols', 'remove', 'BROKERA:ZERO')).toMatchObject({
      code: 64,
      stderr: 'fxd: got neither, wanted a symbol or --hidden\n',
    })
  })

  test('an unknown symbol or feed exits with 1 and a similar name', async () => {
    await importing('EURSUD')
    expect(await remove('BROKERA:ZERO', 'EURSUDD')).toMatchObject({
      code: 1,
      stderr: 'fxd: BROKERA:ZERO has no symbol "EURSUDD" (did you mean EURSUD?).\n',
    })
    expect(await remove('BROKERA:ZER', 'EURSUD')).toMatchObject({
      code: 1,
      stderr: 'fxd: There is no feed "BROKERA:ZER" (did you mean BROKERA:ZERO?).\n',
    })
  })
})

test('an unknown feed exits with 1 and a similar name, for every command', async () => {
  const file = fixture.write(exportText(bars))
  const outcomes = await Promise.all([
    fixture.importing(file, '--feed', 'BROKERA:ZER', '--symbol', 'X', '--resolution', '1'),
    fixture.importing(file, '--feed', 'brokera:zero', '--symbol', 'X', '--resolution', '1'),
    fixture.running('feeds', 'show', 'BROKERA:ZER'),
    fixture.running('feeds', 'purge', 'BROKERA:ZER'),
    fixture.running('feeds', 'token', 'BROKERA:ZER'),
    fixture.running('keys', 'create', '--plan', 'pro', '--feeds', 'BROKERA:ZER'),
    fixture.running('symbols', 'remove', 'BROKERA:ZER', 'X'),
  ])
  for (const { code, stderr } of outcomes) {
    expect([code, stderr]).toEqual([1, expect.stringContaining('(did you mean BROKERA:ZERO?)')])
  }
})
