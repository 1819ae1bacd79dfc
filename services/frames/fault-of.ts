import type { TSchema } from 'typebox'
import { show } from '../core/show.ts'

/** The JSON Schema keywords that `faultOf` supports; a test compares it with a full validator. */
interface Rule {
  readonly type?: string
  readonly const?: string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: Rule
  readonly maxItems?: number
  readonly additionalProperties?: Rule
  readonly maxProperties?: number
  readonly anyOf?: readonly Rule[]
  readonly description?: string
}

interface Fault {
  /** Path inside the field: `[3]`, or ` of "x"`. */
  readonly path: string
  readonly value: unknown
  readonly rule: Rule
}

/** A sentence with the field, its value and what its schema requires; `undefined` if valid. Copies nothing, never throws. */
export function faultOf(field: string, value: unknown, schema: TSchema): string | undefined {
  const fault = findFault(value, schema)
  return fault && `${field}${fault.path} is ${show(fault.value)}; it must be ${fault.rule.description}.`
}

function findFault(value: unknown, rule: Rule): Fault | undefined {
  const own = { path: '', value, rule }
  if (rule.anyOf) {
    const meant = rule.anyOf.find(({ type }) => isOfType(value, type))
    return meant ? ofWhole(findFault(value, meant), own) : own
  }
  if (!isOfType(value, rule.type)) return own
  if (rule.const !== undefined && value !== rule.const) return own
  if (rule.enum && !rule.enum.some((each) => each === value)) return own
  if (typeof value === 'number') return isWithin(value, rule) ? undefined : own
  if (Array.isArray(value)) return findItemFault(value, rule)
  return typeof value === 'object'
    ? findEntryFault(value as Readonly<Record<string, unknown>>, rule)
    : undefined
}

/** A fault without a path quotes the whole union as the rule, not one alternative of the union. */
const ofWhole = (fault: Fault | undefined, whole: Fault): Fault | undefined =>
  fault?.path === '' ? whole : fault

function findItemFault(value: readonly unknown[], rule: Rule): Fault | undefined {
  const { items, maxItems = Number.POSITIVE_INFINITY } = rule
  if (value.length > maxItems) return { path: '', value, rule }
  for (let i = 0; items && i < value.length; i++) {
    const fault = findFault(value[i], items)
    if (fault) return { ...fault, path: `[${i}]${fault.path}` }
  }
  return undefined
}

function findEntryFault(value: Readonly<Record<string, unknown>>, rule: Rule): Fault | undefined {
  const { additionalProperties: entries, maxProperties = Number.POSITIVE_INFINITY } = rule
  let count = 0
  for (const name in value) {
    count += 1
    if (count > maxProperties) return { path: '', value, rule }
    const fault = entries && findFault(value[name], entries)
    if (fault) return { ...fault, path: ` of ${show(name)}${fault.path}` }
  }
  return undefined
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (type === undefined) return true
  if (type === 'integer') return Number.isInteger(value)
  if (Array.isArray(value)) return type === 'array'
  return value !== null && typeof value === type
}

const isWithin = (value: number, { minimum = -Infinity, maximum = Infinity }: Rule): boolean =>
  value >= minimum && value <= maximum
