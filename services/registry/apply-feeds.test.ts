import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { type CompoundKey, compoundKey, type FeedKey, feedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition, ListedSymbol } from '../core/feeds/feed.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import { silentLog } from '../platform/log/log.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { applyFeeds } from './apply-feeds.ts'
import { type FollowedRegistry, followRegistry } from './follow.ts'
import { createRegistryWriter, type RegistryWriter } from './writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'fxd-apply-'))
const clock = createVirtualClock()
let stores: Stores
let registry: FollowedRegistry
let writer: RegistryWriter
/** Every test has separate brokers. */
let broker = ''
let count = 0

beforeAll(async () => {
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
  registry = followRegistry(stores.registry, stores.bus, clock, silentLog)
  await registry.refresh()
  writer = createRegistryWriter(stores.registry, registry, stores.bus)
})
afterAll(async () => {
  registry.close()
  await stores.close()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  await applyFeeds(writer, [])
  broker = `BROKER${count++}`
})

const listed = (raw: string, more: Partial<ListedSymbol> = {}): ListedSymbol => ({
  raw,
  type: 'forex',
  digits: 5,
  ...more,
})

const define = (account: string, more: Partial<FeedDefinition> = {}): FeedDefinition => ({
  key: feedKey(broker, account),
  name: `${broker}-${account}`.toLowerCase(),
  broker,
  account,
  brokerName: broker,
  description: `${broker} ${account}`,
  clock: { mode: 'UTC' },
  quoteBasis: 'Bid',
  resolutions: ['1'],
  delaySeconds: 0,
  liveness: 'candle',
  depth: {},
  retention: {},
  storageBuckets: 4,
  suffixes: ['.z'],
  symbols: [listed('EURUSD.z')],
  source: { type: 'Push' },
  ...more,
})

const applied = async (...definitions: FeedDefinition[]): Promise<number> => {
  const outcome = await applyFeeds(writer, definitions)
  if (outcome.outcome === 'applied') return outcome.written
  throw new Error(JSON.stringify(outcome.faults))
}
const feeds = (): FeedKey[] =>
  registry
    .view()
    .feeds()
    .map((feed) => feed.key)
const symbols = (feed: FeedDefinition): CompoundKey[] =>
  registry
    .view()
    .symbolsOf(feed.key)
    .map((symbol) => symbol.symbol)

async function put(symbol: SymbolRecord): Promise<void> {
  await writer.change(() => ({
    rows: [{ kind: 'symbol', id: symbol.symbol, body: symbol }],
    result: undefined,
  }))
}

test('the registry becomes equal to the manifests, and the second time nothing is written', async () => {
  const zero = define('ZERO', {
    symbols: [
      listed('EURUSD.z'),
      listed('BTCUSD.z', { type: 'crypto', digits: 2, display: 'Bitcoin', description: 'Bitcoin' }),
    ],
    delaySeconds: 900,
  })
  expect(await applied(zero, define('VIP'))).toBe(5)
  expect(feeds()).toEqual([`${broker}:VIP`, `${broker}:ZERO`])
  expect(registry.view().symbolsOf(zero.key)).toEqual([
    {
      symbol: `${zero.key}:BTCUSD`,
      feed: zero.key,
      name: 'BTCUSD',
      raw: 'BTCUSD.z',
      display: 'Bitcoin',
      description: 'Bitcoin',
      type: 'crypto',
      digits: 2,
      session: '24x7',
      delaySeconds: 900,
      origin: 'manifest',
      hidden: false,
    },
    expect.objectContaining({ symbol: `${zero.key}:EURUSD`, display: 'EURUSD', session: '24x5' }),
  ])
  const { version } = registry.view()
  expect(await applied(zero, define('VIP'))).toBe(0)
  expect(registry.view().version).toBe(version)
})

test('only what changed is written', async () => {
  const symbolsOf = (digits: number) => [listed('A.z'), listed('B.z', { digits }), listed('C.z')]
  await applied(define('ZERO', { symbols: symbolsOf(5) }), define('VIP'))
  // The feed, whose definition lists the symbol, and the symbol.
  expect(await applied(define('ZERO', { symbols: symbolsOf(3) }), define('VIP'))).toBe(2)
})

test('a feed without a manifest is hidden with its symbols, and is restored unchanged', async () => {
  const zero = define('ZERO')
  await applied(zero, define('VIP'))
  expect(await applied(define('VIP'))).toBe(1)
  expect(feeds()).toEqual([`${broker}:VIP`])
  expect(registry.view().symbol(compoundKey(zero.key, 'EURUSD'))).toBeUndefined()
  expect(registry.view().allFeeds()).toContainEqual({ definition: zero, hidden: true })
  expect(await applied(zero, define('VIP'))).toBe(1)
  expect(symbols(zero)).toEqual([`${zero.key}:EURUSD`])
})

test('a symbol that the manifest no longer lists is hidden; one of a collector or import stays', async () => {
  const zero = define('ZERO', { symbols: [listed('EURUSD.z'), listed('GBPUSD.z')] })
  await applied(zero)
  const [eurusd] = registry.view().symbolsOf(zero.key)
  if (!eurusd) throw new Error('no symbol')
  const brought = { ...eurusd, name: 'XAUUSD', symbol: compoundKey(zero.key, 'XAUUSD') }
  await put({ ...brought, origin: 'collector' })
  await applied(define('ZERO', { symbols: [listed('EURUSD.z')] }))
  expect(symbols(zero)).toEqual([`${zero.key}:EURUSD`, `${zero.key}:XAUUSD`])
})

test('the manifest replaces a collector’s fields of a symbol, but keeps its `since`', async () => {
  await applied(define('ZERO', { symbols: [] }))
  const zero = define('ZERO')
  const since = feedSeconds(1_000)
  const symbol = compoundKey(zero.key, 'EURUSD')
  const record: SymbolRecord = {
    symbol,
    feed: zero.key,
    name: 'EURUSD',
    raw: 'EURUSD.x',
    display: 'Euro',
    description: 'from the terminal',
    type: 'cfd',
    digits: 3,
    session: '24x7',
    delaySeconds: 60,
    origin: 'collector',
    since,
    hidden: false,
  }
  await put(record)
  await applied(zero)
  expect(registry.view().symbol(symbol)).toEqual({
    ...record,
    raw: 'EURUSD.z',
    display: 'EURUSD',
    description: '',
    type: 'forex',
    digits: 5,
    session: '24x5',
    delaySeconds: 0,
    origin: 'manifest',
    hidden: false,
  })
})

test('a symbol that the manifest lists again has no `since`', async () => {
  const zero = define('ZERO')
  await applied(zero)
  const [symbol] = registry.view().symbolsOf(zero.key)
  if (!symbol) throw new Error('no symbol')
  await put({ ...symbol, since: feedSeconds(1_000) })
  await applied(define('ZERO', { symbols: [] }))
  await applied(zero)
  expect(registry.view().symbol(symbol.symbol)).toEqual(symbol)
})

test('another number of buckets is refused, also for a hidden feed, and nothing is written', async () => {
  await applied(define('ZERO'))
  const { version } = registry.view()
  const outcome = await applyFeeds(writer, [define('ZERO', { storageBuckets: 8 }), define('VIP')])
  expect(outcome).toEqual({
    outcome: 'refused',
    faults: [
      {
        feed: `${broker}:ZERO`,
        path: ['spec', 'storage', 'buckets'],
        message: expect.stringMatching(/^got 8, wanted 4/) as unknown,
      },
    ],
  })
  expect(registry.view().version).toBe(version)
  await applied()
  expect(await applyFeeds(writer, [define('ZERO', { storageBuckets: 8 })])).toMatchObject({
    outcome: 'refused',
  })
})

test('a change of broker or account of a name is refused', async () => {
  await applied(define('ZERO'))
  const { name } = define('ZERO')
  expect(await applyFeeds(writer, [define('VIP', { name })])).toMatchObject({
    outcome: 'refused',
    faults: [{ feed: `${broker}:VIP`, path: ['spec', 'account'] }],
  })
  broker = `${broker}X`
  expect(await applyFeeds(writer, [define('ZERO', { name })])).toMatchObject({
    faults: [{ path: ['spec', 'broker'] }],
  })
})

test('a name is free once its feed is hidden, and feeds may swap names', async () => {
  const { name } = define('ZERO')
  await applied(define('ZERO'))
  await applied()
  await applied(define('VIP', { name }))
  const other = 'another'
  await applied(define('VIP', { name }), define('PRIME', { name: other }))
  await applied(define('VIP', { name: other }), define('PRIME', { name }))
  expect(
    registry
      .view()
      .feeds()
      .map((feed) => feed.name),
  ).toEqual([name, other])
})

test('symbols with names of JavaScript properties are ordinary symbols', async () => {
  const names = ['__proto__', 'constructor', 'toString']
  const zero = define('ZERO', { symbols: names.map((raw) => listed(raw)) })
  await applied(zero)
  expect(symbols(zero).sort()).toEqual(names.map((name) => `${zero.key}:${name}`).sort())
  expect(await applied(zero)).toBe(0)
})
