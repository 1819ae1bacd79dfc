import { isDeepStrictEqual } from 'node:util'
import type { Kind, Schema } from '../../kubernetes/api/support/kinds.ts'

/**
 * Complaints about a change that may break an object, a client or an operator of the release. Fields may be added and
 * widened; descriptions and messages may change.
 */
export const breakingChanges = (released: readonly Kind[], now: readonly Kind[]): string[] =>
  released.flatMap((was) => {
    const { kind } = was.spec.names
    const is = now.find((each) => each.spec.names.kind === kind)
    return is === undefined ? [`${kind} is gone`] : kindChanges(kind, was.spec, is.spec)
  })

function kindChanges(kind: string, was: Kind['spec'], is: Kind['spec']): string[] {
  const { strategy = 'None' } = is.conversion ?? {}
  const stored = (of: Kind['spec']) => of.versions.filter(({ storage }) => storage).map(({ name }) => name)
  return [
    ...changed(`${kind}: group`, was.group, is.group),
    ...changed(`${kind}: scope`, was.scope, is.scope),
    ...changed(`${kind}: plural name`, was.names.plural, is.names.plural),
    ...missing(`${kind}: short name`, was.names.shortNames, is.names.shortNames),
    ...missing(`${kind}: category`, was.names.categories, is.names.categories),
    ...changed(`${kind}: stored version`, stored(was), stored(is)),
    ...changed(`${kind}: conversion`, 'None', strategy),
    ...was.versions.flatMap((version) => {
      const at = is.versions.find(({ name, served }) => name === version.name && served)
      return at === undefined
        ? [`${kind}: version ${version.name} is not served`]
        : versionChanges(kind, version, at)
    }),
    ...addedVersions(kind, was, is),
  ]
}

type Version = Kind['spec']['versions'][number]

/** A field that a new version lacks is lost with each write through it. */
function addedVersions(kind: string, was: Kind['spec'], is: Kind['spec']): string[] {
  const stored = was.versions.find(({ storage }) => storage)
  const added = is.versions.filter(({ name }) => was.versions.every((version) => version.name !== name))
  return added.flatMap(({ name, schema }) =>
    stored ? schemaChanges(`${kind} ${name}`, stored.schema.openAPIV3Schema, schema.openAPIV3Schema) : [],
  )
}

function versionChanges(kind: string, was: Version, is: Version): string[] {
  const columns = (of: Version) => of.additionalPrinterColumns?.map(({ name }) => name)
  return [
    ...changed(`${kind}: subresources`, was.subresources, is.subresources),
    ...missing(`${kind}: printer column`, columns(was), columns(is)),
    ...schemaChanges(kind, was.schema.openAPIV3Schema, is.schema.openAPIV3Schema),
  ]
}

function schemaChanges(at: string, was: Schema, is: Schema | undefined): string[] {
  if (is === undefined) return [`${at} is gone`]
  const { properties, items, additionalProperties, ...others } = was
  const keywords = new Set(Object.keys({ ...others, ...is }))
  for (const nested of ['properties', 'items', 'additionalProperties', 'description']) keywords.delete(nested)
  return [
    // Without properties an object of the API server takes any field.
    ...(properties === undefined && is.properties !== undefined && was.type === 'object'
      ? Object.keys(is.properties).map((name) => `${at}.${name} has a new rule`)
      : []),
    ...Object.entries(properties ?? {}).flatMap(([name, field]) =>
      schemaChanges(`${at}.${name}`, field, is.properties?.[name]),
    ),
    ...(items ? schemaChanges(`${at}[]`, items, is.items) : []),
    ...(additionalProperties ? schemaChanges(`${at}.*`, additionalProperties, is.additionalProperties) : []),
    ...[...keywords].flatMap((keyword) => keywordChange(`${at}: ${keyword}`, keyword, was, is)),
  ]
}

const lowerBounds = new Set(['minimum', 'minLength', 'minItems', 'minProperties'])
const upperBounds = new Set(['maximum', 'maxLength', 'maxItems', 'maxProperties'])
/** Keywords without which a field takes more values. */
const narrowing = new Set([...lowerBounds, ...upperBounds, 'enum', 'pattern'])

function keywordChange(what: string, keyword: string, released: Schema, now: Schema): string[] {
  const [was, is] = [released[keyword], now[keyword]]
  if (keyword === 'required') return missing(what, is, was, 'is new')
  if (keyword === 'x-kubernetes-validations') {
    const rules = rulesOf(now).filter((rule) => !isOfNewValue(rule, released))
    return missing(what, rules, rulesOf(released), 'is new')
  }
  if (narrowing.has(keyword) && is === undefined) return []
  if (keyword === 'enum' && Array.isArray(was)) return missing(what, was, is)
  if (lowerBounds.has(keyword) && Number(is) <= Number(was)) return []
  if (upperBounds.has(keyword) && Number(is) >= Number(was)) return []
  return changed(what, was, is)
}

const rulesOf = (schema: Schema): string[] =>
  schema['x-kubernetes-validations']?.map(({ rule }) => rule) ?? []

/** Whether a rule holds unless a field has a value that the release refused: `self.source.type != 'New' || …`. */
function isOfNewValue(rule: string, released: Schema): boolean {
  const [, path, value, rest = ''] = /^self\.([\w.]+) != '(\w+)' \|\| (.*)$/.exec(rule) ?? []
  const field = path?.split('.').reduce<Schema | undefined>((at, name) => at?.properties?.[name], released)
  // "a || b ? c : d" is "(a || b) ? c : d".
  return Array.isArray(field?.enum) && !field.enum.includes(value) && !rest.includes('?')
}

const changed = (what: string, was: unknown, is: unknown): string[] =>
  isDeepStrictEqual(was, is) ? [] : [`${what} was ${JSON.stringify(was)}, is ${JSON.stringify(is)}`]

/** Complaints about items of a list that the other list lacks. */
const missing = (what: string, list: unknown, other: unknown, complaint = 'is gone'): string[] =>
  itemsOf(list)
    .filter((item) => !itemsOf(other).includes(item))
    .map((item) => `${what}: ${String(item)} ${complaint}`)

const itemsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : [])
