import fc from 'fast-check'
import { expect, test } from 'vitest'
import { definition, symbolRecord } from '../../../test/support/samples/samples.ts'
import { utcMs } from '../clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../feeds/compound-key.ts'
import type { KeyRecord } from '../keys/api-key.ts'
import { Registry } from './registry.ts'

const feed = feedKey('BROKERA', 'ZERO')
const names = ['EURUSD', 'AAPL_CFD.US', '__proto__', 'eurusd']
const digests = ['d1', 'd2', 'd3']

const key = (id: string, secrets: readonly string[]): KeyRecord => ({
  id,
  name: '',
  prefix: 'fxd_0123',
  secrets: secrets.map((digest) => ({ digest })),
  plan: 'basic',
  limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
  feeds: [feed],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
})
const feedRow = (hidden: boolean, version: number) =>
  ({ kind: 'feed', id: feed, version, body: { definition: definition(), hidden } }) as const
const symbolRow = (name: string, hidden: boolean, version: number) => {
  const symbol = compoundKey(feed, name)
  return { kind: 'symbol', id: symbol, version, body: symbolRecord({ symbol, name, hidden }) } as const
}
const keyRow = (id: string, secrets: readonly string[], version: number) =>
  ({ kind: 'key', id, version, body: key(id, secrets) }) as const
type Row = ReturnType<typeof feedRow | typeof symbolRow | typeof keyRow>

function registryOf(rows: readonly Row[]): Registry {
  const registry = new Registry()
  for (const row of rows) registry.apply(row)
  return registry
}

/** Everything that readers see. */
const seen = (registry: Registry) => ({
  version: registry.version,
  feeds: registry.feeds(),
  allFeeds: registry.allFeeds(),
  symbols: registry.symbolsOf(feed),
  allSymbols: new Set(registry.allSymbolsOf(feed)),
  keys: registry.keys.all(),
  single: names.map((name) => registry.symbol(compoundKey(feed, name))),
  digests: digests.map((digest) => registry.keys.byDigest(digest)?.key.id),
})

const change = fc.oneof(
  fc.boolean().map(
    (hidden) =>
      (version: number): Row =>
        feedRow(hidden, version),
  ),
  fc.tuple(fc.constantFrom(...names), fc.boolean()).map(
    ([name, hidden]) =>
      (version: number): Row =>
        symbolRow(name, hidden, version),
  ),
  // A secret always belongs to one key, as the digest of random bytes does.
  fc.boolean().map(
    (isRotated) =>
      (version: number): Row =>
        keyRow('k1', isRotated ? ['d1', 'd2'] : ['d1'], version),
  ),
  fc.boolean().map(
    (isThere) =>
      (version: number): Row =>
        keyRow('k2', isThere ? ['d3'] : [], version),
  ),
)

test('pods that read the same changes in any order, some of them twice, have the same registry', () => {
  const history = fc.array(change, { maxLength: 12 }).map((changes) => changes.map((make, i) => make(i + 1)))
  fc.assert(
    fc.property(
      history.chain((rows) =>
        fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows, ...rows], { minLength: 0 })),
      ),
      ([rows, some]) => {
        expect(seen(registryOf([...some, ...rows.toReversed()]))).toEqual(seen(registryOf(rows)))
      },
    ),
  )
})

test('a secret that moved from a revoked key to another key finds that key, in any order of rows', () => {
  const rows = [
    keyRow('k1', ['d1'], 1),
    keyRow('k1', ['d1', 'd2'], 2),
    keyRow('k2', ['d1'], 3),
    keyRow('k2', ['d3', 'd1'], 4),
  ]
  const anyOrder = fc.shuffledSubarray([...rows, ...rows], { minLength: 8 })
  fc.assert(
    fc.property(anyOrder, (some) => {
      const registry = registryOf(some)
      expect(digests.map((digest) => registry.keys.byDigest(digest)?.key.id)).toEqual(['k2', 'k1', 'k2'])
    }),
  )
})

test('a hidden feed does not exist for readers, only for administration', () => {
  const registry = registryOf([feedRow(false, 1), symbolRow('EURUSD', false, 2)])
  expect(registry.symbolsOf(feed)).toHaveLength(1)
  registry.apply(feedRow(true, 3))
  expect(registry.feeds()).toEqual([])
  expect(registry.symbolsOf(feed)).toEqual([])
  expect(registry.symbol(compoundKey(feed, 'EURUSD'))).toBeUndefined()
  expect(registry.allFeeds()).toHaveLength(1)
  expect(registry.allSymbolsOf(feed)).toHaveLength(1)
})

test('symbols are ordered by compound key and found only in their exact case', () => {
  const registry = registryOf([feedRow(false, 1), ...names.map((name, i) => symbolRow(name, false, i + 2))])
  expect(registry.symbolsOf(feed).map((symbol) => symbol.name)).toEqual([
    'AAPL_CFD.US',
    'EURUSD',
    '__proto__',
    'eurusd',
  ])
  expect(registry.symbol(compoundKey(feed, 'EurUsd'))).toBeUndefined()
  expect(registry.symbol(compoundKey(feed, 'constructor'))).toBeUndefined()
})

test('the next listing shows an added symbol and omits a hidden one', () => {
  const registry = registryOf([feedRow(false, 1), symbolRow('EURUSD', false, 2)])
  const listed = () => registry.symbolsOf(feed).map((symbol) => symbol.name)
  expect(listed()).toEqual(['EURUSD'])
  registry.apply(symbolRow('AAPL_CFD.US', false, 3))
  expect(listed()).toEqual(['AAPL_CFD.US', 'EURUSD'])
  registry.apply(symbolRow('EURUSD', true, 4))
  expect(listed()).toEqual(['AAPL_CFD.US'])
})

test('a removed secret finds no key', () => {
  const registry = registryOf([keyRow('k1', ['d1', 'd2'], 1)])
  expect(registry.keys.byDigest('d1')?.secret).toEqual({ digest: 'd1' })
  registry.apply(keyRow('k1', ['d2'], 2))
  expect(registry.keys.byDigest('d1')).toBeUndefined()
  expect(registry.keys.byDigest('d2')?.key.id).toBe('k1')
  expect(registry.versionOf('k1')).toBe(2)
  expect(registry.versionOf('k2')).toBe(0)
})

test('a row of an unknown kind changes only the version, and the rows after it are applied', () => {
  const registry = registryOf([feedRow(false, 1)])
  const unknown = { kind: 'of a later version', id: 'x', version: 2, body: {} } as unknown as Row
  expect(registry.apply(unknown)).toBe(false)
  expect(registry.apply(keyRow('k1', ['d1'], 3))).toBe(true)
  expect(registry.version).toBe(3)
  expect(registry.keys.all().map(({ id }) => id)).toEqual(['k1'])
})
