import { Unavailable } from './failure.ts'

/** Kind and place of a defect, for the log. The message stays out: it may quote what a client sent. */
export function faultPlace(cause: unknown): { readonly fault: string; readonly at: string } {
  if (!(cause instanceof Error)) return { fault: typeof cause, at: '' }
  const { stack = '' } = cause
  const start = stack.search(/^ +at /m)
  return { fault: cause.name, at: start < 0 ? '' : stack.slice(start) }
}

/** The log's fields for a failure: what is unavailable and why, which an operator needs, or the place of a defect. */
export const failureFields = (cause: unknown): object =>
  cause instanceof Unavailable ? { err: cause } : faultPlace(cause)
