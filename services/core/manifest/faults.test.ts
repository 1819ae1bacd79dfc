import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { exampleManifest, faultsWith } from '../../../test/support/samples/manifest-example.ts'
import { parseManifest } from './manifest.ts'

describe('a fault names the field, the value and what is wanted', () => {
  test.each<[string, unknown, string]>([
    ['apiVersion', 'v1', 'apiVersion: got "v1", wanted "marketdata.fxd.dev/v1alpha1"'],
    ['kind', 'Fed', 'kind: got "Fed", wanted "Feed" (did you mean Feed?)'],
    ['metadata', 'x', 'metadata: got "x", wanted a mapping with name, namespace, labels, annotations'],
    ['metadata.name', 'BrokerA', 'metadata.name: got "BrokerA", wanted 1 to 63 lower-case letters'],
    ['spec', undefined, 'spec: got nothing, wanted a mapping with broker'],
    [
      'spec.brokr',
      'X',
      'spec.brokr: got an unknown field "brokr" (did you mean broker?), wanted only broker, account',
    ],
    ['spec.broker', 'BrokerA', 'spec.broker: got "BrokerA", wanted 1 to 32 upper-case letters and digits'],
    ['spec.account', undefined, 'spec.account: got nothing, wanted 1 to 32 upper-case letters'],
    ['spec.account', 'A:B', 'spec.account: got "A:B"'],
    ['spec.description', '', 'spec.description: got "", wanted a text of 1 to 128 characters'],
    ['spec.clock', 'UTC', 'spec.clock: got "UTC", wanted a mapping with mode'],
    [
      'spec.clock',
      { mode: 'utc' },
      'spec.clock.mode: got "utc", wanted one of "UTC", "Fixed", "Measured" (did you mean UTC?)',
    ],
    [
      'spec.clock',
      { mod: 'Fixed', offsetSeconds: 0 },
      'spec.clock.mod: got an unknown field "mod" (did you mean mode?), wanted only mode',
    ],
    [
      'spec.source',
      { typ: 'Mt5Csv', path: 'exports' },
      'spec.source.typ: got an unknown field "typ" (did you mean type?), wanted only type',
    ],
    [
      'spec.source',
      { type: 'MT5', path: 'exports' },
      'spec.source.type: got "MT5", wanted one of "Push", "Mt5Csv", "Simulator", "Terminal" (did you mean Mt5Csv?)',
    ],
    ['spec.clock', { mode: 'Fixed' }, 'spec.clock.offsetSeconds: got nothing, wanted a whole number'],
    ['spec.clock', { mode: 'Fixed', offsetSeconds: 1.5 }, 'spec.clock.offsetSeconds: got number 1.5'],
    [
      'spec.clock',
      { mode: 'UTC', offsetSeconds: 0 },
      'got an offset with mode "UTC", wanted it with "Fixed" only',
    ],
    ['spec.clock', { mode: 'UTC', offset: 0 }, 'spec.clock.offset: got an unknown field "offset"'],
    ['spec.quoteBasis', 'Ask', 'spec.quoteBasis: got "Ask", wanted one of "Bid", "Mid"'],
    ['spec.resolutions', [], 'spec.resolutions: got an empty list, wanted at least one resolution'],
    ['spec.resolutions', '1', 'spec.resolutions: got "1", wanted a list of at most 11'],
    ['spec.resolutions', [1], 'spec.resolutions.0: got number 1, wanted one of "1", "5"'],
    ['spec.resolutions', [5], '"1M" (in quotes: "5")'],
    ['spec.resolutions', ['1', 'H1'], 'spec.resolutions.1: got "H1", wanted one of'],
    ['spec.resolutions', ['1', 'H1'], '(did you mean 60?)'],
    ['spec.resolutions', ['1', '1d'], 'spec.resolutions.1: got "1d", wanted one of'],
    ['spec.resolutions', ['1', '5', '1'], 'spec.resolutions.2: got "1" twice, wanted each resolution once'],
    ['spec.resolutions', ['5', '30'], 'spec.resolutions: got "30" without "1", wanted "1" too'],
    ['spec.delaySeconds', -1, 'spec.delaySeconds: got number -1, wanted a whole number from 0 to 86400'],
    ['spec.liveness', 'ping', 'spec.liveness: got "ping", wanted one of "heartbeat", "candle"'],
    ['spec.depth', { '1': 90 }, 'spec.depth.1: got number 90, wanted a whole number and a unit'],
    ['spec.depth', { '1': '2024-02-30' }, 'spec.depth.1: got "2024-02-30"'],
    ['spec.depth', { '1': '0d' }, 'spec.depth.1: got "0d"'],
    ['spec.depth', { '1d': '9d' }, 'spec.depth.1d: got an unknown field "1d" (did you mean 1D?)'],
    ['spec.depth', { '30': '9d' }, 'spec.depth.30: got a value for "30", wanted it for "1"'],
    ['spec.earliest', '90d', 'spec.earliest: got "90d", wanted a date such as 2024-01-01'],
    [
      'spec.retention',
      { '1': '2024-01-01' },
      'spec.retention.1: got "2024-01-01", wanted a whole number and a unit',
    ],
    [
      'spec.storage',
      { buckets: 3 },
      'spec.storage.buckets: got number 3, wanted a power of two from 1 to 256',
    ],
    ['spec.storage', { buckets: 512 }, 'spec.storage.buckets: got number 512'],
    ['spec.storage', { shards: 4 }, 'spec.storage.shards: got an unknown field "shards"'],
    ['spec.symbols.suffixes', [''], 'spec.symbols.suffixes.0: got "", wanted a text of 1 to 16 characters'],
    ['spec.symbols.suffixes', ['.z', '.z'], 'spec.symbols.suffixes.1: got ".z" twice'],
    [
      'spec.symbols.suffixes',
      ['_CFD.US'],
      'spec.symbols.suffixes.0: got "_CFD.US", wanted no _CFD.<EXCHANGE>',
    ],
    [
      'spec.source',
      { type: 'push' },
      'spec.source.type: got "push", wanted one of "Push", "Mt5Csv", "Simulator", "Terminal" (did',
    ],
    [
      'spec.source',
      { type: 'Mt5Csv' },
      'spec.source.path: got nothing, wanted a text of 1 to 4096 characters',
    ],
    [
      'spec.source',
      { type: 'Mt5Csv', path: 'x', follow: 'yes' },
      'spec.source.follow: got "yes", wanted true or false',
    ],
    [
      'spec.source',
      { type: 'Push', path: 'x' },
      'spec.source.path: got an unknown field "path", wanted only type',
    ],
    ['spec.source', { type: 'Simulator', seed: -1 }, 'spec.source.seed: got number -1'],
    [
      'spec.source',
      { type: 'Simulator', speed: 2 },
      'spec.source.speed: got an unknown field "speed" (did you mean seed?), wanted only type, seed',
    ],
    [
      'spec.source',
      { type: 'Terminal', path: 'x' },
      'spec.source.path: got an unknown field "path", wanted only type',
    ],
  ])('%s: %j', (path, value, words) => {
    expect(faultsWith(path, value)).toEqual([expect.stringContaining(words)])
  })

  test('a feed of a terminal with mid bars: a terminal gives bid bars only', () => {
    const spec = { ...(exampleManifest()['spec'] as object), source: { type: 'Terminal' }, quoteBasis: 'Mid' }
    expect(faultsWith('spec', spec)).toEqual([
      'spec.quoteBasis: got "Mid" with source "Terminal", wanted "Bid": a terminal gives bid bars only',
    ])
  })
})

describe('symbols', () => {
  const good = { raw: 'EURUSD.z', type: 'forex', digits: 5 }
  const share = { raw: 'AAPL_CFD.US', type: 'cfd', digits: 2 }
  test.each<[unknown[], string]>([
    [
      [{ ...good, raw: 'EUR  USD' }],
      'list.0.raw: got "EUR  USD", wanted the terminal\'s own name, 1 to 64 printable',
    ],
    [
      [{ ...good, type: 'stock' }],
      'list.0.type: got "stock", wanted one of "forex", "crypto", "index", "cfd" (did you mean cfd?)',
    ],
    [
      [{ ...good, type: 'FX' }],
      'list.0.type: got "FX", wanted one of "forex", "crypto", "index", "cfd" (did you mean forex?)',
    ],
    [[{ ...good, digits: 11 }], 'list.0.digits: got number 11, wanted a whole number from 0 to 10'],
    [[{ ...good, digit: 1 }], 'list.0.digit: got an unknown field "digit" (did you mean digits?)'],
    [[{ ...good, session: '24/7' }], 'list.0.session: got "24/7", wanted one of "24x7", "24x5"'],
    [[{ ...good, delaySeconds: '0' }], 'list.0.delaySeconds: got "0"'],
    [[good, 'EURUSD'], 'list.1: got "EURUSD", wanted a mapping with raw, name, display'],
    [[good, good], 'list.1.raw: got "EURUSD.z" twice, wanted each symbol once'],
    [
      [good, { ...good, raw: 'EURUSD' }],
      'got "EURUSD" beside "EURUSD.z", which both become "EURUSD"; wanted one raw name per clean name',
    ],
    [
      [good, { ...share, raw: '#EUR', name: 'EURUSD' }],
      'list.1.raw: got "#EUR" beside "EURUSD.z", which both become "EURUSD"',
    ],
    [
      [
        { ...good, name: 'A' },
        { ...good, name: 'B' },
      ],
      'list.1.raw: got "EURUSD.z" twice, wanted each symbol once',
    ],
    [[{ ...good, name: 'EUR  USD' }], 'list.0.name: got "EUR  USD", wanted a clean name, 1 to 64 printable'],
    [
      [{ ...good, raw: '#AAPL', name: 'AAPL_CFD.US' }],
      'list.0.type: got "forex" for "AAPL_CFD.US", wanted "cfd"',
    ],
    [[{ ...share, type: 'index' }], 'list.0.type: got "index" for "AAPL_CFD.US", wanted "cfd"'],
  ])('%j', (list, words) => {
    expect(faultsWith('spec.symbols.list', list)).toEqual([expect.stringContaining(words)])
  })

  test('names of shares that differ only in case are two symbols', () => {
    const list = ['BRKb_CFD.US', 'BRKB_CFD.US', 'AIR_CFD.FR', 'AIR_CFD.US'].map((raw) => ({ ...share, raw }))
    expect(faultsWith('spec.symbols.list', list)).toEqual([])
  })

  test('a manifest lists at most 200', () => {
    const list = Array.from({ length: 201 }, (_, i) => ({ ...good, raw: `S${i}` }))
    expect(faultsWith('spec.symbols.list', list.slice(1))).toEqual([])
    expect(faultsWith('spec.symbols.list', list)).toEqual([
      'spec.symbols.list: got a list of 201, wanted a list of at most 200',
    ])
  })

  test('symbols named like properties of an object are accepted', () => {
    const list = ['__proto__', 'constructor', 'toString'].map((raw) => ({ ...good, raw }))
    expect(faultsWith('spec.symbols.list', list)).toEqual([])
  })
})

test('several faults are reported together, up to a maximum', () => {
  expect(faultsWith('spec', { broker: 'x' }).length).toBeGreaterThan(3)
  expect(faultsWith('spec', { broker: 'x' })).not.toContain(expect.stringContaining('spec.depth'))
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, 1]))
  expect(faultsWith('spec', many)).toHaveLength(100)
})

const hostile = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withTypedArray: true,
  withSparseArray: true,
})

test('the parser never throws, and rejects a document without the required fields', () => {
  fc.assert(
    fc.property(hostile, (document) => {
      expect(parseManifest(document)).toHaveProperty('faults.0.message')
    }),
  )
})

test('the parser never throws, whatever value replaces a value of a valid manifest', () => {
  const place = fc.constantFrom(
    'metadata',
    'spec',
    'spec.broker',
    'spec.clock',
    'spec.clock.mode',
    'spec.resolutions',
    'spec.depth',
    'spec.depth.60',
    'spec.retention',
    'spec.storage',
    'spec.symbols',
    'spec.symbols.suffixes',
    'spec.symbols.list',
    'spec.symbols.list.0',
    'spec.symbols.list.0.raw',
    'spec.source',
    '__proto__',
  )
  fc.assert(
    fc.property(place, hostile, (path, value) => {
      for (const fault of faultsWith(path, value)) expect(fault).toMatch(/got [^]+, wanted /)
    }),
  )
})
