import { type TSchema, Type } from 'typebox'
import { failures } from '../core/failure.ts'
import { resolutions } from '../core/feeds/resolution.ts'
import { symbolTypes } from '../core/feeds/symbol.ts'

/** Schemas that several endpoints share. Objects are closed: a field without a schema is a defect. */
export const closed = <P extends Record<string, TSchema>>(properties: P, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })

const oneOf = <V extends string>(values: readonly V[], options: object = {}) =>
  Type.Unsafe<V>({ type: 'string', enum: [...values], ...options })

export const resolution = oneOf(resolutions)
export const symbolType = oneOf(symbolTypes)
export const text = (description: string) => Type.String({ description })
export const count = (description: string) => Type.Integer({ minimum: 0, description })
export const flag = (description: string) => Type.Boolean({ description })
export const choice = <V extends string>(description: string, ...values: readonly V[]) =>
  oneOf(values, { description })
export const feedTime = (description: string) => Type.Integer({ description })

const codes = Object.keys(failures) as (keyof typeof failures)[]
const error = closed({
  code: oneOf(codes),
  message: text('What was wrong, the value that was sent, and a valid form.'),
})
export const errorAnswer = closed({ error })
/** The charting library reads `s` and `errmsg`. */
export const historyErrorAnswer = closed({ s: choice('', 'error'), errmsg: Type.String(), error })

export const symbolParam = (options: object = {}) =>
  Type.String({
    minLength: 1,
    description: 'Compound key BROKER:ACCOUNT:SYMBOL, case-sensitive.',
    ...options,
  })
