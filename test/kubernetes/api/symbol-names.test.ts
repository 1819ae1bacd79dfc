import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { resources } from '../../../operator/kube/resources.ts'
import { parseOptions } from '../../../services/cli/import/options.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { parseManifest } from '../../../services/core/manifest/manifest.ts'
import { Registry } from '../../../services/core/registry/registry.ts'
import { decideCatalogue } from '../../../services/ingest/check/catalogue.ts'
import { decideImport } from '../../../services/ingest/check/import-catalogue.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { feedManifest } from '../../support/samples/feed-manifest.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => void (setting = await openSetting(inject('apiServer'))))
afterAll(() => setting?.close())

const manifestWith = (symbol: object) =>
  feedManifest({ symbols: { list: [{ raw: 'EURUSD', type: 'cfd', digits: 5, ...symbol }] } })

/** Whether the schema of Feed accepts the symbol. */
const serverAccepts = (symbol: object): Promise<boolean> => {
  const manifest = manifestWith(symbol)
  const path = `${setting.path(resources.feeds)}?dryRun=All&fieldValidation=Strict`
  const object = { ...manifest, metadata: { ...manifest.metadata, namespace: setting.namespace } }
  return setting.admin.ask('POST', path, object).then(
    () => true,
    () => false,
  )
}
const parserAccepts = (symbol: object): boolean => 'definition' in parseManifest(manifestWith(symbol))

const at = { view: new Registry(), definition: defineFeed({}) }
const wire = { raw: '', name: '', display: '', description: '', type: '', session: '', digits: 5 }

function pushAccepts(raw: string): boolean {
  const catalogue = { snapshot: true, symbols: [{ ...wire, raw }], removed: [] }
  const live = { ...at, watchedUntil: feedSeconds(0), absences: { of: () => undefined } }
  return decideCatalogue(catalogue, live).result.refused.length === 0
}
const importAccepts = (name: string): boolean =>
  decideImport([{ ...wire, name }], at, []).result.refused.length === 0
function commandLineAccepts(symbol: string): boolean {
  try {
    parseOptions('file.csv', { feed: 'BROKERA:ZERO', symbol, resolution: '1' }, '/')
    return true
  } catch {
    return false
  }
}

const ways = async (name: string) => ({
  schema: await serverAccepts({ name }),
  manifest: parserAccepts({ name }),
  rawOfManifest: parserAccepts({ raw: name }),
  push: pushAccepts(name),
  import: importAccepts(name),
  commandLine: commandLineAccepts(name),
})
const everywhere = (accepted: boolean) => ({
  schema: accepted,
  manifest: accepted,
  rawOfManifest: accepted,
  push: accepted,
  import: accepted,
  commandLine: accepted,
})

test.for([
  'EURUSD',
  'Volatility 75 Index',
  'Boom 500 (1s) Index',
  'a b c',
  '#AAPL',
  'BRKb_CFD.US',
  'us:Spx.500',
  '£é€',
  '__proto__',
  'X'.repeat(64),
  `X ${'X'.repeat(62)}`,
])('every way in accepts the name "%s"', async (name) => {
  expect(await ways(name)).toEqual(everywhere(true))
  // The schema of raw names is wider: those of released objects stay valid.
  expect(await serverAccepts({ raw: name })).toBe(true)
})

test.for([
  '',
  ' ',
  ' EURUSD',
  'EURUSD ',
  'EUR  USD',
  'EUR\tUSD',
  'EUR\nUSD',
  'EURUSD\n',
  'EUR\u0000',
  'EUR\u0085USD',
  'EUR\u00a0USD',
  'EUR\u2009USD',
  'EUR\u3000USD',
  'EUR\u200bUSD',
  'EUR\u2028USD',
  'EUR\ufeff',
  'EUR\ue000',
  'X'.repeat(65),
])('every way in refuses the name %j', async (name) => {
  expect(await ways(name)).toEqual(everywhere(false))
})
