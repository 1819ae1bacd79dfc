/** `<TICKER>_CFD.<EXCHANGE>`: the exchange is part of the identity and never taken for a suffix. */
const shareShape = /_CFD\.[A-Z0-9]+$/
export const isShareCfd = (name: string): boolean => shareShape.test(name)

/**
 * The clean name of a terminal's raw name: at most one of the feed's exact, case-sensitive suffixes
 * is taken off (of several that fit the longest), never so that nothing remains.
 */
export function cleanName(raw: string, suffixes: readonly string[]): string {
  if (isShareCfd(raw)) return raw
  let longest = 0
  for (const suffix of suffixes) {
    if (suffix.length > longest && suffix.length < raw.length && raw.endsWith(suffix)) longest = suffix.length
  }
  return raw.slice(0, raw.length - longest)
}

export const nameLengthMax = 64
/** No space, control or invisible character anywhere. */
const nameShape = /^[^\s\p{Z}\p{C}]+$/u
export const nameWanted = `1 to ${nameLengthMax} printable characters without spaces`

/** Whether an instrument may bear this name; it may hold dots, colons and significant lower case. */
export const isCleanName = (name: string): boolean => name.length <= nameLengthMax && nameShape.test(name)
