import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineFeed } from '../../../test/support/fixtures/ingest-fixture.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { isCleanName, nameWanted } from '../../core/feeds/symbol-name.ts'
import { Registry } from '../../core/registry/registry.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { feedSymbolsMax } from '../../wire/limits.ts'
import { type Absence, decideCatalogue, feedIsFull, type WholeCatalogue } from './catalogue.ts'
import { decideImport } from './import-catalogue.ts'

const definition = defineFeed({ delaySeconds: 15, symbols: { suffixes: ['.z', '.x'], list: [] } })
const watchedUntil = feedSeconds(1_000)

const wire = (raw: string, more: Partial<CatalogueSymbol__Output> = {}): CatalogueSymbol__Output => ({
  raw,
  name: '',
  display: '',
  description: '',
  type: '',
  digits: 5,
  session: '',
  ...more,
})
const record = (name: string, more: Partial<SymbolRecord> = {}): SymbolRecord => ({
  symbol: compoundKey(definition.key, name),
  feed: definition.key,
  name,
  raw: name,
  display: name,
  description: '',
  type: 'cfd',
  digits: 5,
  session: '24x5',
  delaySeconds: 15,
  origin: 'collector',
  since: feedSeconds(500),
  hidden: false,
  ...more,
})

function registryOf(...symbols: readonly SymbolRecord[]): Registry {
  const registry = new Registry()
  registry.apply({ kind: 'feed', id: definition.key, version: 1, body: { definition, hidden: false } })
  symbols.forEach((body, i) => registry.apply({ kind: 'symbol', id: body.symbol, version: i + 2, body }))
  return registry
}

const decide = (catalogue: Partial<WholeCatalogue>, view = registryOf(), absence?: Absence) => {
  const whole = { snapshot: true, symbols: [], removed: [], ...catalogue }
  const { rows, result } = decideCatalogue(whole, {
    view,
    definition,
    watchedUntil,
    absences: { of: () => absence },
  })
  return { rows: rows.map(({ body }) => body as SymbolRecord), ...result }
}
const add = (
  symbols: readonly CatalogueSymbol__Output[],
  view = registryOf(),
  waiting: readonly CompoundKey[] = [],
) => {
  const { rows, result } = decideImport(symbols, { view, definition }, waiting)
  return { rows: rows.map(({ body }) => body as SymbolRecord), ...result }
}

/** A feed with room for one more name. */
const almostFull = (): Registry =>
  registryOf(
    record('KNOWN'),
    record('GONE', { hidden: true, since: undefined }),
    ...Array.from({ length: feedSymbolsMax - 3 }, (_, i) => record(`S${i}`)),
  )

describe("a live session's catalogue", () => {
  test('a new symbol gets its clean name and the defaults, and is covered from now on', () => {
    const { rows, refused } = decide({ symbols: [wire('EURUSD.z', { type: 'crypto', digits: 3 })] })
    expect(refused).toEqual([])
    expect(rows).toEqual([
      record('EURUSD', {
        raw: 'EURUSD.z',
        type: 'crypto',
        session: '24x7',
        digits: 3,
        since: watchedUntil,
      }),
    ])
  })

  test('unchanged symbols are not written', () => {
    const view = registryOf(record('EURUSD'))
    const { rows, symbols } = decide({ symbols: [wire('EURUSD')] }, view)
    expect(rows).toEqual([])
    expect(symbols).toEqual([record('EURUSD')])
  })

  test("the manifest's fields win over the collector's; only `since` is added", () => {
    const listed = record('EURUSD', { origin: 'manifest', digits: 4, description: 'Euro', since: undefined })
    const { rows } = decide({ symbols: [wire('EURUSD', { description: 'other' })] }, registryOf(listed))
    expect(rows).toEqual([{ ...listed, since: watchedUntil }])
  })

  test("the collector's fields win over an import's", () => {
    const imported = record('EURUSD', { origin: 'import', digits: 2, since: undefined })
    const { rows } = decide({ symbols: [wire('EURUSD.z')] }, registryOf(imported))
    expect(rows).toEqual([record('EURUSD', { raw: 'EURUSD.z', since: watchedUntil })])
  })

  test('a snapshot ends the coverage of symbols of an earlier snapshot, and hides nothing yet', () => {
    const view = registryOf(
      record('GONE'),
      record('LISTED', { origin: 'manifest' }),
      record('IMPORTED', { origin: 'import', since: undefined }),
    )
    const { rows, absent } = decide({ symbols: [wire('EURUSD')] }, view)
    expect(rows.map(({ name, hidden, since }) => [name, hidden, since])).toEqual([
      ['EURUSD', false, watchedUntil],
      ['GONE', false, undefined],
      ['LISTED', false, undefined],
    ])
    expect([...absent]).toEqual([
      [compoundKey(definition.key, 'GONE'), { since: feedSeconds(500), watchedUntil }],
    ])
  })

  test('a snapshot ends the coverage of a symbol that only a delta listed', () => {
    const [listed] = decide({ snapshot: false, symbols: [wire('B')] }).rows
    const { absent } = decide({ symbols: [wire('A')] }, registryOf(listed as SymbolRecord))
    expect([...absent.keys()]).toEqual([compoundKey(definition.key, 'B')])
  })

  test('a delta removes only the symbols that it names', () => {
    const view = registryOf(record('A', { raw: 'A.z' }), record('B'))
    const { rows, absent } = decide({ snapshot: false, removed: ['A.z'] }, view)
    expect(rows).toEqual([record('A', { raw: 'A.z', since: undefined })])
    expect([...absent.keys()]).toEqual([compoundKey(definition.key, 'A')])
  })

  test('a hidden symbol that is listed again is shown, and covered from then on', () => {
    const view = registryOf(record('EURUSD', { hidden: true, since: feedSeconds(3) }))
    const { rows } = decide({ symbols: [wire('EURUSD')] }, view)
    expect(rows).toEqual([record('EURUSD', { since: watchedUntil })])
  })

  test.each([
    ['before a feed-wide window ends keeps its coverage', watchedUntil, 500],
    ['after a feed-wide window is covered from the end of that window', feedSeconds(940), watchedUntil],
  ])('an absent symbol that is listed again %s', (_, leftAt, since) => {
    const view = registryOf(record('EURUSD', { since: undefined }))
    const absence = { since: feedSeconds(500), watchedUntil: feedSeconds(leftAt) }
    const { rows, absent } = decide({ symbols: [wire('EURUSD')] }, view, absence)
    expect(rows).toEqual([record('EURUSD', { since: feedSeconds(since) })])
    expect([...absent]).toEqual([])
  })

  test('without any window, as after a purge, every listed symbol is covered from the first window on', () => {
    const view = registryOf(record('A'), record('B', { origin: 'manifest' }))
    const { rows } = decideCatalogue(
      { snapshot: true, symbols: [wire('A'), wire('B')], removed: [] },
      { view, definition, watchedUntil: feedSeconds(0), absences: { of: () => undefined } },
    )
    expect(rows.map(({ id, body }) => [id, (body as SymbolRecord).since])).toEqual([
      [record('A').symbol, 0],
      [record('B').symbol, 0],
    ])
  })

  test('an absent symbol stays absent in the next snapshot without it, and its clean name is free', () => {
    const view = registryOf(record('EURUSD', { raw: 'EURUSD.x', since: undefined }))
    const { rows, absent } = decide({ symbols: [] }, view)
    expect(rows).toEqual([])
    expect([...absent.keys()]).toEqual([compoundKey(definition.key, 'EURUSD')])
    const other = decide({ snapshot: false, symbols: [wire('EURUSD.z')] }, view)
    expect(other.symbols.map(({ raw }) => raw)).toEqual(['EURUSD.z'])
  })

  test('two new raw names that would become one clean name are both refused', () => {
    const { rows, refused } = decide({ symbols: [wire('EURUSD.z'), wire('EURUSD.x'), wire('GBPUSD')] })
    expect(rows.map(({ name }) => name)).toEqual(['GBPUSD'])
    expect(refused.map(({ raw }) => raw)).toEqual(['EURUSD.z', 'EURUSD.x'])
    expect(refused[0]?.reason).toContain('"EURUSD.z" and "EURUSD.x" would both become "EURUSD"')
  })

  test('of two raw names, the one that already has the clean name keeps it', () => {
    const view = registryOf(record('EURUSD', { raw: 'EURUSD.x' }))
    const both = decide({ symbols: [wire('EURUSD.z'), wire('EURUSD.x')] }, view)
    expect(both.symbols.map(({ raw }) => raw)).toEqual(['EURUSD.x'])
    expect(both.refused.map(({ raw }) => raw)).toEqual(['EURUSD.z'])
    const delta = decide({ snapshot: false, symbols: [wire('EURUSD.z')] }, view)
    expect(delta.refused.map(({ raw }) => raw)).toEqual(['EURUSD.z'])
    const renamed = decide({ symbols: [wire('EURUSD.z')] }, view)
    expect(renamed.symbols.map(({ raw }) => raw)).toEqual(['EURUSD.z'])
  })

  test('a raw name gets the clean name of the manifest, which no other raw name can have', () => {
    const list = [
      { raw: '#AAPL', name: 'AAPL', type: 'cfd', digits: 2 },
      { raw: 'Platin.z', name: 'Platin.z', type: 'cfd', digits: 2 },
    ]
    const named = defineFeed({ symbols: { suffixes: ['.z'], list } })
    const view = registryOf(record('AAPL', { raw: '#AAPL', origin: 'manifest' }))
    const symbols = ['#AAPL', 'AAPL', 'Platin.z', 'Gold.z'].map((raw) => wire(raw))
    const whole = { snapshot: true, symbols, removed: [] }
    const at = { view, definition: named, watchedUntil, absences: { of: () => undefined } }
    const { result } = decideCatalogue(whole, at)
    expect(result.symbols.map(({ name, raw }) => [name, raw])).toEqual([
      ['AAPL', '#AAPL'],
      ['Platin.z', 'Platin.z'],
      ['Gold', 'Gold.z'],
    ])
    expect(result.refused).toEqual([
      {
        raw: 'AAPL',
        reason:
          '"AAPL" and "#AAPL" would both become "AAPL"; ' +
          "the feed's symbols.suffixes must keep them apart, or a name in symbols.list",
      },
    ])
  })

  test('share classes and exchanges are part of the clean name', () => {
    const { symbols } = decide({ symbols: [wire('BRKb_CFD.US'), wire('BRKB_CFD.US'), wire('VOD_CFD.x')] })
    expect(symbols.map(({ name }) => name)).toEqual(['BRKb_CFD.US', 'BRKB_CFD.US', 'VOD_CFD'])
  })

  test('an invalid symbol is refused with the wanted value', () => {
    const { symbols, refused } = decide({
      symbols: [
        wire(''),
        wire('TWO  SPACES'),
        wire('A', { digits: 11 }),
        wire('B', { type: 'stock' }),
        wire('C', { session: 'always' }),
        wire('D', { delaySeconds: 90_000 }),
        wire('E', { description: 'x'.repeat(300) }),
      ],
    })
    expect(symbols).toEqual([])
    expect(refused.map(({ reason }) => reason)).toEqual([
      `raw: got "", wanted ${nameWanted}`,
      `raw: got "TWO  SPACES", wanted ${nameWanted}`,
      'digits: got 11, wanted 0 to 10',
      'type: got "stock", wanted one of forex, crypto, index, cfd',
      'session: got "always", wanted one of 24x7, 24x5',
      'delay_seconds: got 90000, wanted 0 to 86400',
      'description: got 300 characters, wanted at most 256',
    ])
  })

  test('a name such as __proto__ is an ordinary name', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const { symbols } = decide({ symbols: names.map((name) => wire(name)) })
    expect(symbols.map(({ name }) => name)).toEqual(names)
  })

  test('new names above the maximum of a feed are refused, and names that it had, hidden or not, are accepted', () => {
    const { symbols, refused } = decide(
      { symbols: ['NEW1', 'KNOWN', 'NEW2', 'GONE'].map((raw) => wire(raw)) },
      almostFull(),
    )
    expect(symbols.map(({ name }) => name)).toEqual(['NEW1', 'KNOWN', 'GONE'])
    expect(refused).toEqual([{ raw: 'NEW2', reason: feedIsFull }])
  })

  test('for any list, names are unique and clean, and the same catalogue again changes nothing', () => {
    const raw = fc.oneof(
      fc.constantFrom('A', 'A.z', 'A.x', 'B', 'B.z', 'C_CFD.z', 'C_CFD'),
      fc.string({ maxLength: 8 }),
    )
    fc.assert(
      fc.property(fc.array(raw, { maxLength: 12 }), fc.boolean(), (raws, snapshot) => {
        const catalogue = { snapshot, symbols: raws.map((each) => wire(each)) }
        const first = decide(
          catalogue,
          registryOf(record('A', { raw: 'A.z' }), record('B', { origin: 'manifest' })),
        )
        const names = first.symbols.map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        expect(names.filter((name) => !isCleanName(name))).toEqual([])
        const answered = new Set([
          ...first.symbols.map((each) => each.raw),
          ...first.refused.map((each) => each.raw),
        ])
        expect([...answered].sort()).toEqual([...new Set(raws)].sort())
        const view = registryOf(record('A', { raw: 'A.z' }), record('B', { origin: 'manifest' }))
        first.rows.forEach((body, i) =>
          view.apply({ kind: 'symbol', id: body.symbol, version: 100 + i, body }),
        )
        expect(decide(catalogue, view).rows).toEqual([])
      }),
    )
  })
})

describe('an import', () => {
  test('adds a symbol under the given clean name, without coverage', () => {
    const { rows } = add([wire('', { name: 'EURUSD.y', digits: 4, description: 'Euro' })])
    expect(rows).toEqual([
      record('EURUSD.y', { origin: 'import', digits: 4, description: 'Euro', since: undefined }),
    ])
  })

  test('changes no symbol of the manifest or of a collector', () => {
    for (const origin of ['manifest', 'collector'] as const) {
      const had = record('EURUSD', { origin, digits: 3 })
      const { rows, symbols } = add([wire('', { name: 'EURUSD', digits: 5 })], registryOf(had))
      expect(rows).toEqual([])
      expect(symbols).toEqual([had])
    }
  })

  test('adds no new name above the maximum of a feed; names that wait for a bar count', () => {
    const asked = ['NEW1', 'KNOWN', 'NEW2', 'GONE'].map((name) => wire('', { name }))
    const first = add(asked, almostFull())
    expect(first.symbols.map(({ name }) => name)).toEqual(['NEW1', 'KNOWN', 'GONE'])
    expect(first.refused).toEqual([{ raw: 'NEW2', reason: feedIsFull }])
    const waiting = [compoundKey(definition.key, 'NEW2')]
    const next = add(asked, almostFull(), waiting)
    expect(next.symbols.map(({ name }) => name)).toEqual(['KNOWN', 'NEW2', 'GONE'])
  })

  test('changes of an earlier import only what is given anew, and never to fewer digits', () => {
    const had = record('EURUSD', {
      origin: 'import',
      digits: 4,
      description: 'Euro',
      type: 'forex',
      since: undefined,
    })
    const { rows } = add([wire('', { name: 'EURUSD', digits: 2, display: 'EUR/USD' })], registryOf(had))
    expect(rows).toEqual([{ ...had, display: 'EUR/USD' }])
    expect(add([wire('', { name: 'EURUSD', digits: 5 })], registryOf(had)).rows).toEqual([
      { ...had, digits: 5 },
    ])
  })
})
