import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseManifest } from '../../services/core/manifest/manifest.ts'
import { type Kind, kinds, releasedKinds, type Schema } from '../kubernetes/api/support/kinds.ts'
import { breakingChanges } from './rules/kind-changes.ts'
import { root } from './tree.ts'

test('the kinds have no change that breaks an object of the last release', () => {
  expect(breakingChanges(releasedKinds(), kinds())).toEqual([])
})

/** The released kinds with the value at a path below `spec` of one kind replaced (`undefined`: removed). */
function planted(kind: string, path: string, value: unknown): Kind[] {
  const copies = structuredClone(releasedKinds())
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = copies.find(({ spec }) => spec.names.kind === kind)?.spec as unknown as Record<string, unknown>
  for (const name of names) at = at[name] as Record<string, unknown>
  at[last] = value
  if (value === undefined) delete at[last]
  return copies
}

const version = 'versions.0'
const spec = `${version}.schema.openAPIV3Schema.properties.spec`
const field = `${spec}.properties`
const feed = releasedKinds().find(({ spec: { names } }) => names.kind === 'Feed')
const [only] = feed?.spec.versions ?? []
const rulesOfFeed = only?.schema.openAPIV3Schema.properties?.['spec']?.['x-kubernetes-validations'] ?? []
const later = { ...only, name: 'v1' }

describe('a planted change is found', () => {
  test.for<[title: string, kind: string, path: string, value: unknown, complaint: string]>([
    ['a kind goes away', 'Feed', 'names.kind', 'Source', 'Feed is gone'],
    ['a group changes', 'Feed', 'group', 'fxd.dev', 'Feed: group was "marketdata.fxd.dev"'],
    ['a kind leaves its namespaces', 'Feed', 'scope', 'Cluster', 'Feed: scope'],
    ['a plural name changes', 'Feed', 'names.plural', 'feedz', 'Feed: plural name'],
    ['a short name goes away', 'ApiKey', 'names.shortNames', [], 'ApiKey: short name: ak is gone'],
    ['the category goes away', 'ApiKey', 'names.categories', undefined, 'ApiKey: category: fxd is gone'],
    [
      'a second version is stored',
      'Feed',
      'versions',
      [only, later],
      'Feed: stored version was ["v1alpha1"]',
    ],
    ['a version is not served', 'Feed', `${version}.served`, false, 'Feed: version v1alpha1 is not served'],
    ['a webhook converts', 'Feed', 'conversion', { strategy: 'Webhook' }, 'Feed: conversion was "None"'],
    [
      'the scale goes away',
      'StreamPool',
      `${version}.subresources`,
      { status: {} },
      'StreamPool: subresources',
    ],
    [
      'a printer column goes away',
      'StreamPool',
      `${version}.additionalPrinterColumns.0.name`,
      'Desired',
      'StreamPool: printer column: Wanted is gone',
    ],
    ['a field goes away', 'Feed', `${field}.liveness`, undefined, 'Feed.spec.liveness is gone'],
    [
      'a field of a list item goes away',
      'Feed',
      `${field}.symbols.properties.list.items.properties.display`,
      undefined,
      'Feed.spec.symbols.list[].display is gone',
    ],
    [
      'an optional field becomes required',
      'ApiKey',
      `${spec}.required`,
      ['plan', 'feeds', 'issue'],
      'ApiKey.spec: required: issue is new',
    ],
    [
      'a type changes',
      'Feed',
      `${field}.delaySeconds.type`,
      'string',
      'Feed.spec.delaySeconds: type was "integer"',
    ],
    ['a format is added', 'Feed', `${field}.delaySeconds.format`, 'int32', 'Feed.spec.delaySeconds: format'],
    ['a maximum shrinks', 'Feed', `${field}.delaySeconds.maximum`, 60, 'maximum was 86400, is 60'],
    ['a minimum grows', 'Feed', `${field}.delaySeconds.minimum`, 1, 'minimum was 0, is 1'],
    ['a maximum length is added', 'Feed', `${field}.broker.maxLength`, 40, 'Feed.spec.broker: maxLength'],
    [
      'values of a map become shorter',
      'Feed',
      `${field}.depth.additionalProperties.maxLength`,
      4,
      'Feed.spec.depth.*: maxLength was 20, is 4',
    ],
    ['a pattern changes', 'Feed', `${field}.account.pattern`, '^[A-Z]+$', 'Feed.spec.account: pattern'],
    ['an enum loses a value', 'Feed', `${field}.quoteBasis.enum`, ['Bid'], 'quoteBasis: enum: Mid is gone'],
    ['an enum is added', 'Feed', `${field}.brokerName.enum`, ['A'], 'Feed.spec.brokerName: enum'],
    [
      'a list becomes a set',
      'Feed',
      `${field}.symbols.properties.list.x-kubernetes-list-type`,
      'set',
      'list-type',
    ],
    [
      'a default changes',
      'StreamPool',
      `${field}.replicas.default`,
      3,
      'StreamPool.spec.replicas: default was 2',
    ],
    ['a default is added', 'Feed', `${field}.liveness.default`, 'candle', 'Feed.spec.liveness: default'],
    [
      'a CEL rule changes',
      'Feed',
      `${spec}.x-kubernetes-validations.0.rule`,
      'self.broker == oldSelf.broker',
      'Feed.spec: x-kubernetes-validations: self.broker == oldSelf.broker is new',
    ],
    [
      'a CEL rule is added',
      'ApiKey',
      `${field}.plan.x-kubernetes-validations`,
      [{ rule: "self != 'basic'", message: 'write standard' }],
      "ApiKey.spec.plan: x-kubernetes-validations: self != 'basic' is new",
    ],
    ...[
      "self.source.type != 'Push' || self.quoteBasis == 'Bid'",
      "self.source.type != 'New' || self.delaySeconds == 0 ? false : true",
      "self.broker != 'New' || self.quoteBasis == 'Bid'",
    ].map((rule): [string, string, string, unknown, string] => [
      `the rule ${rule} is added`,
      'Feed',
      `${spec}.x-kubernetes-validations`,
      [...rulesOfFeed, { rule, message: '' }],
      `Feed.spec: x-kubernetes-validations: ${rule} is new`,
    ]),
    [
      'a field of the status goes away',
      'Feed',
      `${version}.schema.openAPIV3Schema.properties.status.properties.newestBar`,
      undefined,
      'Feed.status.newestBar is gone',
    ],
  ])('%s', ([, kind, path, value, complaint]) => {
    expect(breakingChanges(releasedKinds(), planted(kind, path, value))).toEqual([
      expect.stringContaining(complaint),
    ])
  })
})

describe('a change that breaks no object is accepted', () => {
  test.for<[title: string, kind: string, path: string, value: unknown]>([
    ['a new optional field', 'Feed', `${field}.note`, { type: 'string', maxLength: 9, default: 'x' }],
    ['a field that is no longer required', 'ApiKey', `${spec}.required`, ['plan']],
    ['other words', 'Feed', `${field}.brokerName.description`, 'Name.'],
    ['another message', 'Feed', `${spec}.x-kubernetes-validations.0.message`, 'write another'],
    ['one rule less', 'ApiKey', `${field}.overlap.x-kubernetes-validations`, undefined],
    ['a greater maximum', 'Feed', `${field}.delaySeconds.maximum`, 90_000],
    ['no maximum', 'Feed', `${field}.delaySeconds.maximum`, undefined],
    [
      'a rule for a value that the release refused',
      'Feed',
      `${spec}.x-kubernetes-validations`,
      [...rulesOfFeed, { rule: "self.source.type != 'New' || self.quoteBasis == 'Bid'", message: '' }],
    ],
    ['one more value of an enum', 'Feed', `${field}.quoteBasis.enum`, ['Ask', 'Bid', 'Mid']],
    ['no pattern', 'Feed', `${field}.volumeClaim`, { type: 'string', maxLength: 300 }],
    ['one more short name', 'Feed', 'names.shortNames', ['fd', 'feed']],
    ['a version that is not stored', 'Feed', 'versions', [only, { ...later, storage: false }]],
  ])('%s', ([, kind, path, value]) => {
    expect(breakingChanges(releasedKinds(), planted(kind, path, value))).toEqual([])
  })
})

const manifests = join(root, 'charts/baseline/manifests')
const documents = readdirSync(manifests).map(
  (file) => [file, parse(readFileSync(join(manifests, file), 'utf8')) as object] as const,
)

test.for(documents)('the manifest of a release %s is still parsed', ([, document]) => {
  expect(parseManifest(document)).toHaveProperty('definition')
})

test('the manifests use every field that a released Feed has', () => {
  const fieldsOf = (schema: Schema, at: string): string[] => [
    at,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => fieldsOf(each, `${at}.${name}`)),
    ...(schema.items ? fieldsOf(schema.items, at) : []),
  ]
  const pathsIn = (value: unknown, at: string): string[] => {
    if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, at))
    if (typeof value !== 'object' || value === null) return [at]
    return [at, ...Object.entries(value).flatMap(([name, each]) => pathsIn(each, `${at}.${name}`))]
  }
  const used = new Set(documents.flatMap(([, document]) => pathsIn(document, 'Feed')))
  const schema = only?.schema.openAPIV3Schema.properties?.['spec'] ?? {}
  const fields = fieldsOf(schema, 'Feed.spec')
  expect(fields.length).toBeGreaterThan(30)
  expect(fields.filter((each) => !used.has(each))).toEqual([])
})
