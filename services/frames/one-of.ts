import { Type } from 'typebox'

/** The schema of a text that is one of these values. */
export const oneOf = <V extends string>(values: readonly V[], description: string) =>
  Type.Unsafe<V>({ type: 'string', enum: [...values], description })
