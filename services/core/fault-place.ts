/**
 * The kind of a defect and where it was thrown, for the log. The message stays out: it may quote what a client
 * sent, as the message of a `SyntaxError` does.
 */
export function faultPlace(cause: unknown): { readonly fault: string; readonly at: string } {
  if (!(cause instanceof Error)) return { fault: typeof cause, at: '' }
  const { stack = '' } = cause
  const start = stack.search(/^ +at /m)
  return { fault: cause.name, at: start < 0 ? '' : stack.slice(start) }
}
