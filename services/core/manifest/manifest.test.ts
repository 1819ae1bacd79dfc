import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { arbitraryDefinition } from '../../../test/support/samples/arbitrary-definition.ts'
import { definitionOf, exampleManifest } from '../../../test/support/samples/manifest-example.ts'
import { parseManifest } from './manifest.ts'
import { definitionToManifest } from './write.ts'

const day = 86_400
const since = (date: string) => ({ since: Date.parse(date) / 1_000 })

test('every field of the manifest in the documents is parsed, and defaults are added', () => {
  expect(definitionOf(exampleManifest())).toEqual({
    key: 'BROKERA:ZERO',
    name: 'brokera-zero',
    broker: 'BROKERA',
    account: 'ZERO',
    brokerName: 'BROKERA',
    description: 'BrokerA Zero',
    clock: { mode: 'Fixed', offsetSeconds: -10_800 },
    quoteBasis: 'Bid',
    resolutions: ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'],
    delaySeconds: 0,
    liveness: 'heartbeat',
    depth: {
      '1': { seconds: 90 * day },
      '5': { seconds: 365 * day },
      '10': { seconds: 365 * day },
      '15': { seconds: 365 * day },
      '60': since('2024-01-01'),
      '120': since('2024-01-01'),
      '240': since('2024-01-01'),
      '1D': since('2024-01-01'),
      '1W': since('2024-01-01'),
      '1M': since('2016-01-01'),
    },
    retention: {},
    storageBuckets: 4,
    suffixes: ['.z'],
    symbols: [
      {
        raw: 'EURUSD.z',
        description: 'Euro vs US Dollar',
        type: 'forex',
        digits: 5,
        session: '24x5',
        delaySeconds: 0,
      },
    ],
    source: { type: 'Push' },
  })
})

test('every feed of the acceptance tests is parsed', () => {
  const folder = new URL('../../../test/acceptance/feeds/', import.meta.url)
  const keys = readdirSync(folder).map(
    (file) => definitionOf(parse(readFileSync(new URL(file, folder), 'utf8'))).key,
  )
  expect(keys).toContain('BROKERC:TADIL')
})

test('missing fields get defaults that fit the feed', () => {
  const plain = definitionToManifest(definitionOf(exampleManifest()))
  const { depth: _, brokerName: __, description: ___, liveness: ____, ...spec } = plain.spec
  const tadil = {
    ...spec,
    resolutions: ['60', '1'],
    clock: { mode: 'Fixed', offsetSeconds: 4_018 * day },
    source: { type: 'Mt5Csv', path: 'in' },
    symbols: null,
  }
  expect(definitionOf({ ...plain, spec: tadil })).toMatchObject({
    brokerName: 'BROKERA',
    description: 'BROKERA ZERO',
    resolutions: ['1', '60'],
    liveness: 'candle',
    symbols: [],
    source: { type: 'Mt5Csv', path: 'in', follow: false },
    // On a clock that is years behind UTC, a date is the same number of days ago.
    depth: { '1': { seconds: 90 * day }, '60': since('2012-12-31') },
  })
})

test('a date object of the YAML parser is parsed as a date', () => {
  const document = exampleManifest() as { spec: { depth: Record<string, unknown> } }
  document.spec.depth = { '60': new Date('2024-05-06T00:00:00Z') }
  expect(definitionOf(document).depth['60']).toEqual(since('2024-05-06'))
  document.spec.depth = { '60': new Date(Number.NaN) }
  expect(parseManifest(document)).toHaveProperty('faults.0.path', ['spec', 'depth', '60'])
})

test('parsing the manifest of a definition returns the definition', () => {
  fc.assert(
    fc.property(arbitraryDefinition, (definition) => {
      expect(definitionOf(JSON.parse(JSON.stringify(definitionToManifest(definition))))).toEqual(definition)
    }),
  )
})
