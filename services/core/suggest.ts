/** Maximum length of a word that is compared: the cost grows with the product of the lengths. */
const comparedLength = 80

/** Minimum length of a beginning that suggests a word. */
const beginningLength = 3

/** The nearest known word by edits, ignoring case; `undefined`: none is near. One without a common letter is not. */
export function suggest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > comparedLength) return undefined
  const wanted = word.toLowerCase()
  let nearest: string | undefined
  let least = Math.max(2, Math.ceil(word.length / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const edits = editDistance(wanted, candidate.toLowerCase())
    if (edits < least && edits < Math.max(word.length, candidate.length)) {
      least = edits
      nearest = candidate
    }
  }
  return nearest ?? onlyLonger(wanted, known)
}

/** The only known word that begins with this one: `Simulator` for `sim`. */
function onlyLonger(wanted: string, known: Iterable<string>): string | undefined {
  if (wanted.length < beginningLength) return undefined
  const longer = [...known].filter((candidate) => candidate.toLowerCase().startsWith(wanted))
  return longer.length === 1 ? longer[0] : undefined
}

/** ` (did you mean X?)`, or an empty text; a nickname (in capitals) suggests its meaning. */
export function didYouMean(
  word: string,
  known: Iterable<string>,
  nicknames: ReadonlyMap<string, string> = new Map(),
): string {
  const near = nicknames.get(word.toUpperCase()) ?? suggest(word, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (previous[j] as number) + 1, (row[j - 1] as number) + 1))
    }
    previous = row
  }
  return previous[b.length] as number
}
