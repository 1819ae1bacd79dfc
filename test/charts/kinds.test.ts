import { describe, expect, test } from 'vitest'
import { kinds, type Schema } from '../kubernetes/api/support/kinds.ts'

/** Fields of Kubernetes, which bounds them: every object has them, or they are those of a pod. */
const ofKubernetes = new Set(['apiVersion', 'kind', 'metadata', 'spec.template'])

/** Whether a text that matches has a greatest length: anchored, without unlimited repetition. */
function isBounded(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\.|\[[^\]]*\]/g, '')
  const isAnchored = /^\^.*\$$/.test(plain) && !plain.replaceAll(/\([^()]*\)/g, '').includes('|')
  return isAnchored && !/[*+]|\{\d+,\}/.test(plain)
}

const isBoundedText = ({ maxLength, format, pattern, enum: values }: Schema): boolean =>
  [maxLength, values].some((each) => each !== undefined) ||
  format === 'date-time' ||
  (typeof pattern === 'string' && isBounded(pattern))

/** Paths of the lists, texts and maps that have no bound, with the keyword that they lack. */
function unbounded(schema: Schema, path: string): string[] {
  if (ofKubernetes.has(path)) return []
  const { type, properties = {}, items, additionalProperties, maxItems, maxProperties } = schema
  const lacks = [
    type === 'array' && maxItems === undefined && 'maxItems',
    type === 'string' && !isBoundedText(schema) && 'maxLength',
    type === 'object' && !schema.properties && maxProperties === undefined && 'maxProperties',
  ].flatMap((keyword) => (keyword === false ? [] : [`${path}: ${keyword}`]))
  const at = path === '' ? '' : `${path}.`
  return [
    ...lacks,
    ...Object.entries(properties).flatMap(([name, field]) => unbounded(field, `${at}${name}`)),
    ...(items ? unbounded(items, `${path}[]`) : []),
    ...(additionalProperties ? unbounded(additionalProperties, `${path}.*`) : []),
  ]
}

test.for(kinds().map((kind) => [kind.spec.names.kind, kind] as const))(
  'every list, text and map of %s has a bound',
  ([, { spec }]) => {
    expect(spec.versions.flatMap(({ schema }) => unbounded(schema.openAPIV3Schema, ''))).toEqual([])
  },
)

/** Paths of the fields that have no description. */
const undescribed = ({ properties = {}, items }: Schema, path: string): string[] => [
  ...Object.entries(properties).flatMap(([name, field]) => {
    const at = path === '' ? name : `${path}.${name}`
    const isPlain = [...ofKubernetes, 'spec', 'status'].includes(at) || 'description' in field
    return [...(isPlain ? [] : [at]), ...undescribed(field, at)]
  }),
  ...(items ? undescribed(items, `${path}[]`) : []),
]

test.for(kinds().map((kind) => [kind.spec.names.kind, kind] as const))(
  'kubectl explain describes every field of %s',
  ([, { spec }]) => {
    expect(spec.versions.flatMap(({ schema }) => undescribed(schema.openAPIV3Schema, ''))).toEqual([])
    expect(undescribed({ properties: { planted: { type: 'string' } } }, '')).toEqual(['planted'])
  },
)

describe('a planted field without a bound is found', () => {
  const text: Schema = { type: 'string', maxLength: 9 }
  test.for<[title: string, field: Schema, complaint: string]>([
    ['a list', { type: 'array', items: text }, 'a: maxItems'],
    ['a text', { type: 'string' }, 'a: maxLength'],
    ['a text with only a lower bound', { type: 'string', minLength: 1 }, 'a: maxLength'],
    ['a text with a format of any length', { type: 'string', format: 'uri' }, 'a: maxLength'],
    ['a pattern that repeats', { type: 'string', pattern: '^[a-z]+$' }, 'a: maxLength'],
    ['a pattern that repeats from a number on', { type: 'string', pattern: '^a{2,}$' }, 'a: maxLength'],
    ['a pattern without an end', { type: 'string', pattern: '^[a-z]{1,9}' }, 'a: maxLength'],
    ['a pattern with a free end', { type: 'string', pattern: '^a|b$' }, 'a: maxLength'],
    ['a map', { type: 'object', additionalProperties: text }, 'a: maxProperties'],
    [
      'an object of any fields',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      'a: maxPro',
    ],
    ['a text in a list', { type: 'array', maxItems: 2, items: { type: 'string' } }, 'a[]: maxLength'],
    [
      'a text in a map',
      { type: 'object', maxProperties: 2, additionalProperties: { type: 'string' } },
      'a.*: maxLength',
    ],
  ])('%s', ([, field, complaint]) => {
    const found = unbounded({ type: 'object', properties: { a: field, b: text } }, '')
    expect(found).toEqual([expect.stringContaining(complaint)])
  })
})
