const shownLength = 48
const keyShape = /fxd_[0-9a-f]{32}/gi

/** A text in which nobody finds an API key. */
const maskKeys = (text: string): string => text.replace(keyShape, 'fxd_…')

/** How an error tells what it got: short, quoted, on one line, never with an API key in it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (typeof value === 'object') return 'a mapping'
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  return `${typeof value === 'bigint' ? 'number' : typeof value} ${String(value)}`
}

function quote(text: string): string {
  const masked = maskKeys(text)
  return JSON.stringify(masked.length > shownLength ? `${masked.slice(0, shownLength)}…` : masked)
}
