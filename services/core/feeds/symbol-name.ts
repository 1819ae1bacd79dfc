/** `<TICKER>_CFD.<EXCHANGE>`: the exchange is part of the name. */
const shareIdentity = /_CFD\.[A-Z0-9]+/
const shareName = new RegExp(`${shareIdentity.source}$`)
export const isShareCfd = (name: string): boolean => shareName.test(name)

/**
 * The clean name of a terminal's raw name. At most one of the feed's exact, case-sensitive suffixes is removed,
 * of several that match the longest. A part of a share's name, or the whole name, is never removed, and no name ends
 * with a space.
 */
export function cleanName(raw: string, suffixes: readonly string[]): string {
  const identity = shareIdentity.exec(raw)
  const kept = identity === null ? 1 : identity.index + identity[0].length
  let longest = 0
  for (const suffix of suffixes) {
    const end = raw.length - suffix.length
    const fits = raw.endsWith(suffix) && end >= kept && raw[end - 1] !== ' '
    if (fits && suffix.length > longest) longest = suffix.length
  }
  return raw.slice(0, raw.length - longest)
}

interface NameRules {
  readonly suffixes: readonly string[]
  readonly symbols: readonly { readonly raw: string; readonly name?: string | undefined }[]
}

/** Returns a function from raw names of the feed to clean names: the manifest's own, or those without suffixes. */
export function cleanNames({ suffixes, symbols }: NameRules): (raw: string) => string {
  const own = new Map(symbols.flatMap(({ raw, name }) => (name === undefined ? [] : [[raw, name]])))
  return (raw) => own.get(raw) ?? cleanName(raw, suffixes)
}

export const nameLengthMax = 64
/** No control character, no invisible character, and no space but single U+0020 between other characters. */
const nameShape = /^[^\s\p{Z}\p{C}]+( [^\s\p{Z}\p{C}]+)*$/u
export const nameWanted = `1 to ${nameLengthMax} printable characters, with spaces only singly between others`

/** Whether the text is valid as a name; it may contain dots, colons and significant lower case. */
export const isCleanName = (name: string): boolean => name.length <= nameLengthMax && nameShape.test(name)
