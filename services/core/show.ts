const shownLength = 48
/** API keys, tokens of terminals and of charts. */
const secretShape = /(fx[dt]_)[0-9a-f]{32}|(fxc_)[\w.-]+/gi

/** Control characters, invisible characters, other line ends, and U+FFFD, which marks bytes that are not text. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}\uFFFD]/gu

const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`

/** How an error shows a value: short, quoted, printable, on one line. API keys and tokens of terminals and charts are masked. */
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
  const masked = text.replace(
    secretShape,
    (_key, random?: string, signed?: string) => `${(random ?? signed ?? '').toLowerCase()}…`,
  )
  const short = masked.length > shownLength ? `${masked.slice(0, shownLength)}…` : masked
  return JSON.stringify(short).replace(unprintable, escaped)
}
