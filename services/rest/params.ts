import { Failure } from '../core/failure.ts'
import { isResolution, type Resolution, resolutions } from '../core/feeds/resolution.ts'
import { show } from '../core/show.ts'

/** A query parameter as it was sent: once, several times or not at all. */
export type ParamValue = string | readonly string[] | undefined

export interface IntegerRule {
  readonly min?: number | undefined
  readonly max?: number | undefined
  /** Greater values become this one; they are not refused. */
  readonly clampAbove?: number | undefined
  /** A leading `-` is allowed: times only. */
  readonly signed?: boolean | undefined
  readonly default?: number | undefined
}

/** Plain decimal digits within safe integers; an empty value counts as absent. Throws INVALID_PARAMS. */
export function integerParam(name: string, value: ParamValue, rule: IntegerRule = {}): number | undefined {
  const text = single(name, value, wantedInteger(rule))
  if (text === undefined) return rule.default
  const digits = rule.signed ? /^-?\d+$/ : /^\d+$/
  // `+ 0` makes the 0 of "-0" a plain one.
  const parsed = digits.test(text) ? Number(text) + 0 : Number.NaN
  const number = rule.clampAbove === undefined ? parsed : Math.min(parsed, rule.clampAbove)
  const isWithin = number >= (rule.min ?? -Infinity) && number <= (rule.max ?? Infinity)
  if (!Number.isSafeInteger(number) || !isWithin) throw invalid(name, text, wantedInteger(rule))
  return number
}

function wantedInteger({ min, max, clampAbove, signed }: IntegerRule): string {
  const top = max ?? clampAbove
  if (min !== undefined && top !== undefined) return `a whole number from ${min} to ${top}`
  if (min !== undefined) return `a whole number, ${min} or more`
  return signed ? 'a whole number of Unix seconds' : 'a whole number in plain digits'
}

/** One of the eleven values, case-sensitive; an empty value counts as absent. Throws INVALID_PARAMS. */
export function resolutionParam(name: string, value: ParamValue): Resolution | undefined {
  const wanted = `one of ${resolutions.join(', ')}`
  const text = single(name, value, wanted)
  if (text === undefined || isResolution(text)) return text
  throw invalid(name, text, wanted)
}

/** Any text of at most `lengthMax` code points; an empty value counts as absent. Throws INVALID_PARAMS. */
export function textParam(name: string, value: ParamValue, lengthMax?: number): string | undefined {
  if (lengthMax === undefined) return single(name, value)
  const wanted = `at most ${lengthMax} characters`
  const text = single(name, value, wanted)
  if (text !== undefined && Array.from(text).length > lengthMax) throw invalid(name, text, wanted)
  return text
}

function single(name: string, value: unknown, wanted?: string): string | undefined {
  if (value === undefined || value === '') return undefined
  if (typeof value === 'string') return value
  const got = Array.isArray(value) ? `it ${value.length} times` : show(value)
  const once = wanted === undefined ? 'it once' : `it once, ${wanted}`
  throw new Failure('INVALID_PARAMS', `${name}: got ${got}, wanted ${once}`)
}

const invalid = (name: string, got: string, wanted: string): Failure =>
  new Failure('INVALID_PARAMS', `${name}: got ${show(got)}, wanted ${wanted}`)
