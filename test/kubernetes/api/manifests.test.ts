import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import type { FeedSpec } from '../../../operator/kube/kinds.ts'
import { resources } from '../../../operator/kube/resources.ts'
import { parseManifest } from '../../../services/core/manifest/manifest.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => void (setting = await openSetting(inject('apiServer'))))
afterAll(() => setting?.close())

interface Manifest {
  readonly metadata: object
  readonly [field: string]: unknown
}

/** The spec of a valid Feed. */
const valid: FeedSpec = {
  broker: 'BROKERA',
  account: 'ZERO',
  clock: { mode: 'UTC' },
  quoteBasis: 'Bid',
  resolutions: ['1', '30', '60'],
  source: { type: 'Push' },
}

/** A valid manifest with these fields of its spec replaced (`undefined`: removed), and with more fields beside it. */
const manifest = (spec: object, beside: object = {}): Manifest => ({
  apiVersion: 'marketdata.fxd.dev/v1alpha1',
  kind: 'Feed',
  metadata: { name: 'a' },
  spec: { ...valid, ...spec },
  ...beside,
})

const listed = (...list: object[]) => ({
  symbols: { list: list.map((one) => ({ raw: 'EURUSD', type: 'forex', digits: 5, ...one })) },
})
const suffixes = (...texts: string[]) => ({ symbols: { suffixes: texts } })

/** Whether the API server accepts a manifest as `kubectl apply` sends it, and whether `fxd all` does. */
async function accepted(document: Manifest): Promise<{ server: boolean; parser: boolean }> {
  const object = JSON.parse(JSON.stringify(document)) as Manifest
  const path = `${setting.path(resources.feeds)}?dryRun=All&fieldValidation=Strict`
  const here = { ...object, metadata: { ...object.metadata, namespace: setting.namespace } }
  const server = await setting.admin.ask('POST', path, here).then(
    () => true,
    () => false,
  )
  return { server, parser: 'definition' in parseManifest(object) }
}

const released = join(import.meta.dirname, '../../../charts/baseline/manifests')

describe('the API server and fxd all accept', () => {
  test.for(readdirSync(released))('the manifest of a release %s', async (file) => {
    const document = parse(readFileSync(join(released, file), 'utf8')) as Manifest
    expect(await accepted(document)).toEqual({ server: true, parser: true })
  })

  test.for<[title: string, spec: object]>([
    ['a feed with nothing but what is required', {}],
    ['the greatest offset', { clock: { mode: 'Fixed', offsetSeconds: -1_000_000_000 } }],
    ['the longest names', { broker: `A${'9'.repeat(31)}`, brokerName: 'é'.repeat(128) }],
    ['a duration with leading zeros', { depth: { '1': '007d' }, retention: { '60': '000000001w' } }],
    ['the last day of a year', { depth: { '1': '2024-12-31' } }],
    ['256 tables', { storage: { buckets: 256 } }],
    ['an empty mapping of symbols', { symbols: {} }],
    ['an empty collector', { collector: { storage: {} } }],
    ['a field without a value', { description: null }],
    ['lists without items', { symbols: { suffixes: [], list: [] } }],
    ['the longest name of a symbol', listed({ raw: 'X'.repeat(64), digits: 10 })],
    ['a symbol with a space in its name', listed({ raw: 'S&P 500' })],
    ['a symbol with a clean name of its own', listed({ raw: '#SPX', name: 'S&P 500' })],
    ['a share', listed({ raw: 'AAPL_CFD.US', type: 'cfd' })],
    ['a name with a colon and lower case', listed({ raw: 'us:Spx.500' })],
    ['a simulator with the greatest seed', { source: { type: 'Simulator', seed: 4_294_967_295 } }],
    ['a terminal', { source: { type: 'Terminal' }, collector: { tokenIssue: 1_000_000 } }],
    ['files without a volume', { source: { type: 'Mt5Csv', path: 'x'.repeat(4096), follow: false } }],
  ])('%s', async ([, spec]) => {
    expect(await accepted(manifest(spec))).toEqual({ server: true, parser: true })
  })
})

describe('the API server and fxd all reject', () => {
  test.for<[title: string, spec: object]>([
    ['no account', { account: undefined }],
    ['a broker in lower case', { broker: 'brokera' }],
    ['a broker of 33 characters', { broker: 'A'.repeat(33) }],
    ['an empty description', { description: '' }],
    ['a description of 129 characters', { description: 'x'.repeat(129) }],
    ['an unknown field', { brokr: 'X' }],
    ['an unknown clock', { clock: { mode: 'utc' } }],
    ['a fixed clock without its offset', { clock: { mode: 'Fixed' } }],
    ['half a second', { clock: { mode: 'Fixed', offsetSeconds: 1.5 } }],
    ['an offset beyond the greatest', { clock: { mode: 'Fixed', offsetSeconds: 1_000_000_001 } }],
    ['an offset of UTC', { clock: { mode: 'UTC', offsetSeconds: 0 } }],
    ['another quote basis', { quoteBasis: 'Ask' }],
    ['no resolution', { resolutions: [] }],
    ['a resolution twice', { resolutions: ['1', '1'] }],
    ['a resolution that is a number', { resolutions: [1] }],
    ['the code of a terminal as a resolution', { resolutions: ['H1'] }],
    ['30 without 1', { resolutions: ['30'] }],
    ['a negative delay', { delaySeconds: -1 }],
    ['a delay of more than a day', { delaySeconds: 86_401 }],
    ['another liveness', { liveness: 'ping' }],
    ['a depth without a unit', { depth: { '1': '90' } }],
    ['a depth that is a number', { depth: { '1': 90 } }],
    ['a depth of 30', { depth: { '30': '9d' } }],
    ['a depth of a resolution that the feed lacks', { depth: { '5': '9d' } }],
    ['a date as a retention', { retention: { '1': '2024-01-01' } }],
    ['a retention of 30', { retention: { '30': '9d' } }],
    ['three tables', { storage: { buckets: 3 } }],
    ['an empty suffix', suffixes('')],
    ['a suffix twice', suffixes('.z', '.z')],
    ['a suffix of 17 characters', suffixes('.'.repeat(17))],
    ['33 suffixes', suffixes(...Array.from({ length: 33 }, (_, i) => `.${i}`))],
    ['201 symbols', listed(...Array.from({ length: 201 }, (_, i) => ({ raw: `S${i}` })))],
    ['a symbol twice', listed({}, {})],
    ['a symbol with a name of 65 characters', listed({ raw: 'X'.repeat(65) })],
    ['a clean name with a space at its end', listed({ name: 'S&P ' })],
    ['a symbol of another type', listed({ type: 'stock' })],
    ['a symbol without digits', listed({ digits: undefined })],
    ['a symbol with 11 digits', listed({ digits: 11 })],
    ['a symbol with an unknown field', listed({ pip: 1 })],
    ['another session', listed({ session: '24x6' })],
    ['an unknown source', { source: { type: 'Mt5' } }],
    ['files without a path', { source: { type: 'Mt5Csv' } }],
    ['a path of a simulator', { source: { type: 'Simulator', path: 'x' } }],
    ['a simulator that follows', { source: { type: 'Simulator', follow: true } }],
    ['a volume of a Push feed', { source: { type: 'Push', volumeClaim: 'data' } }],
    ['a seed of a Push feed', { source: { type: 'Push', seed: 1 } }],
    ['a seed beyond the greatest', { source: { type: 'Simulator', seed: 4_294_967_296 } }],
    ['a volume with an upper-case name', { source: { type: 'Mt5Csv', path: 'x', volumeClaim: 'Data' } }],
    ['mid prices of a terminal', { source: { type: 'Terminal' }, quoteBasis: 'Mid' }],
    ['a path of a terminal', { source: { type: 'Terminal', path: 'x' } }],
    ['the issue 0 of a token', { collector: { tokenIssue: 0 } }],
    ['three collectors', { collector: { replicas: 3 } }],
    ['a spool of zero', { collector: { storage: { size: '0Gi' } } }],
    ['a class without a name', { collector: { storage: { className: '' } } }],
  ])('%s', async ([, spec]) => {
    expect(await accepted(manifest(spec))).toEqual({ server: false, parser: false })
  })
})

describe('fxd alone rejects, because the kinds were released without that rule and are never narrowed', () => {
  test.for<[title: string, spec: object]>([
    ['a depth of zero', { depth: { '1': '0d' } }],
    ['a depth that begins in month 13', { depth: { '1': '2024-13-01' } }],
    ['a depth that begins on day 45', { depth: { '1': '2024-12-45' } }],
    ['a retention of zero', { retention: { '1': '0d' } }],
    ['a retention of zero with many digits', { retention: { '1': '000s' } }],
    ['a suffix that begins with a space', suffixes(' z')],
    ['an exchange as a suffix', suffixes('_CFD.US1')],
    ['a symbol with two spaces in a row in its name', listed({ raw: 'S&P  500' })],
    ['a symbol with a no-break space in its name', listed({ raw: 'S&P\u00a0500' })],
    ['a share that is no cfd', listed({ raw: 'AAPL_CFD.US', type: 'index' })],
  ])('%s', async ([, spec]) => {
    expect(await accepted(manifest(spec))).toEqual(onlyServer)
  })
})

const onlyServer = { server: true, parser: false }
const onlyParser = { server: false, parser: true }

/** Intended differences with their reasons. */
describe('the API server and fxd all differ, because', () => {
  test.for<[reason: string, document: Manifest, verdict: typeof onlyServer]>([
    [
      'names of other objects contain that of a Feed: 40 characters, 63 in fxd all',
      manifest({}, { metadata: { name: 'x'.repeat(41) } }),
      onlyParser,
    ],
    ['buckets was released as required in storage', manifest({ storage: {} }), onlyParser],
    ['CEL has no calendar: 30 February', manifest({ depth: { '1': '2024-02-30' } }), onlyServer],
    [
      'a rule would compute with units: more than a century',
      manifest({ depth: { '1': '9999999w' } }),
      onlyServer,
    ],
    [
      'a rule would compute with units in a retention, too',
      manifest({ retention: { '1': '36601d' } }),
      onlyServer,
    ],
    ['one counts characters, the other UTF-16 units', manifest({ brokerName: '📈'.repeat(65) }), onlyServer],
    [
      'a rule would compare all symbols with all suffixes: two raw names of one symbol',
      manifest({
        symbols: {
          suffixes: ['.z'],
          list: ['EURUSD', 'EURUSD.z'].map((raw) => ({ raw, type: 'forex', digits: 5 })),
        },
      }),
      onlyServer,
    ],
    ['the operator writes a status, and fxd all has none', manifest({}, { status: {} }), onlyServer],
    [
      'other metadata is that of Kubernetes',
      manifest({}, { metadata: { name: 'a', finalizers: ['example.org/a'] } }),
      onlyServer,
    ],
  ])('%s', async ([, document, verdict]) => {
    expect(await accepted(document)).toEqual(verdict)
  })
})
