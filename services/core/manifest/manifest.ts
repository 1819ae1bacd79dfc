import { feedKey } from '../feeds/compound-key.ts'
import {
  type FeedDefinition,
  type FeedSource,
  type QuoteBasis,
  storageBucketsDefault,
} from '../feeds/feed.ts'
import { finestFirst, type Resolution, resolutions, terminalCodes } from '../feeds/resolution.ts'
import { delaySecondsMax } from '../feeds/symbol.ts'
import { parseDepth, parseEarliest, parseRetention } from './depth.ts'
import { type ManifestFault, type Mapping, Place } from './document.ts'
import { parseClock, parseSource } from './source.ts'
import { parseSymbols } from './symbols.ts'

export const manifestApiVersion = 'marketdata.fxd.dev/v1alpha1'
const metadataFields = ['name', 'namespace', 'labels', 'annotations'] as const
const specFields = [
  'broker',
  'account',
  'brokerName',
  'description',
  'clock',
  'quoteBasis',
  'resolutions',
  'delaySeconds',
  'liveness',
  'depth',
  'retention',
  'earliest',
  'storage',
  'symbols',
  'source',
  'collector',
] as const
type SpecField = (typeof specFields)[number]

const wordsLengthMax = 128
const storageBucketsMax = 256
const tokenIssueMax = 1_000_000

/** Parses the document of a Feed manifest. Returns the definition, or all faults. Never throws. */
export function parseManifest(
  document: unknown,
): { definition: FeedDefinition } | { faults: ManifestFault[] } {
  const faults: ManifestFault[] = []
  const fields = new Place(document, [], faults).mapping(['apiVersion', 'kind', 'metadata', 'spec'])
  fields.need('apiVersion').oneOf([manifestApiVersion])
  fields.need('kind').oneOf(['Feed'])
  const name = parseName(fields.need('metadata').mapping(metadataFields).need('name'))
  const definition = parseSpec(name, fields.need('spec').mapping(specFields))
  return faults.length > 0 ? { faults } : { definition }
}

/** After a fault a placeholder is used; the definition is then not returned. */
function parseSpec(name: string, spec: Mapping<SpecField>): FeedDefinition {
  const broker = parseKeyPart(spec.need('broker'), 'BROKERA')
  const account = parseKeyPart(spec.need('account'), 'ZERO')
  const clock = parseClock(spec.need('clock'))
  const served = parseResolutions(spec.need('resolutions'))
  const source = parseSource(spec.need('source'))
  const quoteBasis = parseQuoteBasis(spec.need('quoteBasis'), source)
  const earliest = parseEarliest(spec.may('earliest'))
  const { suffixes, symbols } = parseSymbols(spec.may('symbols'))
  checkCollector(spec.may('collector'))
  return {
    key: feedKey(broker, account),
    name,
    broker,
    account,
    brokerName: spec.may('brokerName').words(wordsLengthMax) ?? broker,
    description: spec.may('description').words(wordsLengthMax) ?? `${broker} ${account}`,
    clock,
    quoteBasis,
    resolutions: served,
    delaySeconds: spec.may('delaySeconds').integer(0, delaySecondsMax) ?? 0,
    // The collector of files has no terminal whose connection it could report.
    liveness:
      spec.may('liveness').oneOf(['heartbeat', 'candle']) ??
      (source.type === 'Mt5Csv' ? 'candle' : 'heartbeat'),
    depth: parseDepth(spec.may('depth'), served, clock),
    retention: parseRetention(spec.may('retention'), served),
    ...(earliest !== undefined && { earliest }),
    storageBuckets: parseBuckets(spec.may('storage')),
    suffixes,
    symbols,
    source,
  }
}

function parseQuoteBasis(place: Place, source: FeedSource): QuoteBasis {
  const basis = place.oneOf(['Bid', 'Mid']) ?? 'Bid'
  if (basis === 'Mid' && source.type === 'Terminal')
    place.fault('got "Mid" with source "Terminal", wanted "Bid": a terminal gives bid bars only')
  return basis
}

const nameShape = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

const parseName = (place: Place): string =>
  place.text('1 to 63 lower-case letters, digits and inner hyphens, such as "brokera-zero"', (text) =>
    nameShape.test(text),
  ) ?? ''

const keyPartShape = /^[A-Z][A-Z0-9]{0,31}$/

const parseKeyPart = (place: Place, example: string): string =>
  place.text(`1 to 32 upper-case letters and digits, a letter first, such as "${example}"`, (text) =>
    keyPartShape.test(text),
  ) ?? ''

/** In the order of the specification, whatever the order in the manifest. */
function parseResolutions(place: Place): Resolution[] {
  const served: Resolution[] = []
  const items = place.items(resolutions.length)
  for (const item of items) {
    const r = item.oneOf(resolutions, terminalCodes)
    if (r === undefined) continue
    if (served.includes(r)) item.fault(`got "${r}" twice, wanted each resolution once`)
    served.push(r)
  }
  if (items.length === 0 && Array.isArray(place.value))
    place.fault('got an empty list, wanted at least one resolution')
  if (served.includes('30') && !served.includes('1')) {
    place.fault('got "30" without "1", wanted "1" too: 30 is derived from it and never stored')
  }
  return served.sort(finestFirst)
}

/** Fields for the pod of the collector, which the operator creates; other roles ignore them. */
function checkCollector(place: Place): void {
  const fields = place.mapping(['replicas', 'tokenIssue', 'storage'])
  fields.may('replicas').integer(1, 2)
  fields.may('tokenIssue').integer(1, tokenIssueMax)
  const storage = fields.may('storage').mapping(['size', 'className'])
  storage.may('size').text('a size such as "1Gi"', (text) => /^[1-9]\d{0,5}(Mi|Gi|Ti)$/.test(text))
  storage.may('className').words(253)
}

function parseBuckets(place: Place): number {
  const buckets = place.mapping(['buckets']).may('buckets')
  const powerOfTwo = (value: unknown): number | undefined => {
    const isFine = typeof value === 'number' && value >= 1 && value <= storageBucketsMax
    return isFine && Number.isInteger(Math.log2(value)) ? value : undefined
  }
  return buckets.read(`a power of two from 1 to ${storageBucketsMax}`, powerOfTwo) ?? storageBucketsDefault
}
