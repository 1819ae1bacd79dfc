import type { Static, TObject, TSchema } from 'typebox'
import { Failure } from '../core/failure.ts'
import { show } from '../core/show.ts'
import { integerParam, type ParamValue, resolutionParam, textParam } from './params.ts'

/**
 * The schema of a parameter. The parser reads its rules from it, so that the two cannot differ. Keywords that begin
 * with `x-` are for the parser only: the served document leaves them out.
 */
interface ParamSchema {
  readonly type?: 'string' | 'integer'
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly default?: number
  readonly 'x-clamp-above'?: number
  readonly 'x-signed'?: boolean
  /** The error message for a missing parameter, where the specification has one. */
  readonly 'x-missing'?: string
}

/** Parses a query by its schema. Throws INVALID_PARAMS with the name of the first wrong parameter. */
export function parseQuery<Q extends TObject>(schema: Q, query: URLSearchParams): Static<Q> {
  const required = new Set<string>(schema.required)
  const parsed: Record<string, unknown> = {}
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    const value = parseParam(name, valueOf(query, name), property)
    if (value !== undefined) parsed[name] = value
    else if (required.has(name)) throw missing(name, property)
  }
  return parsed as Static<Q>
}

function valueOf(query: URLSearchParams, name: string): ParamValue {
  const values = query.getAll(name).filter((value) => value !== '')
  return values.length > 1 ? values : values[0]
}

function parseParam(name: string, value: ParamValue, rule: ParamSchema): string | number | undefined {
  if (rule.enum) return resolutionParam(name, value)
  if (rule.type === 'string') return textParam(name, value, rule.maxLength)
  return integerParam(name, value, {
    min: rule.minimum,
    max: rule.maximum,
    clampAbove: rule['x-clamp-above'],
    signed: rule['x-signed'],
    default: rule.default,
  })
}

function missing(name: string, rule: ParamSchema): Failure {
  const wanted = rule.enum ? `one of ${rule.enum.join(', ')}` : 'a value'
  return new Failure(
    'INVALID_PARAMS',
    rule['x-missing'] ?? `${name}: got ${show(undefined)}, wanted ${wanted}`,
  )
}
