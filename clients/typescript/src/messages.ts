/** The service reads messages of 64 KiB, and lists of 5,000 names. */
const messageCharsMax = 60_000

/** Lists that fit into a message, each name twice and with a time. */
function* chunks(names: readonly string[]): Generator<readonly string[]> {
  let chunk: string[] = []
  let chars = 0
  for (const name of names) {
    const more = 2 * name.length + 24
    if (chars + more > messageCharsMax) {
      yield chunk
      chunk = []
      chars = 0
    }
    chunk.push(name)
    chars += more
  }
  if (chunk.length > 0) yield chunk
}

export function* unsubscribe(names: readonly string[]): Generator<object> {
  for (const symbols of chunks(names)) yield { action: 'unsubscribe', symbols }
}

/** Symbols with the time after which their bars begin, then whole feeds. */
export function* subscribe(
  from: ReadonlyMap<string, number | undefined>,
  feeds: readonly string[],
): Generator<object> {
  const events = ['feed', 'revised']
  const options = { action: 'subscribe', type: 'bar', markers: true, format: 'rows', events }
  for (const symbols of chunks([...from.keys()])) {
    const since = Object.fromEntries(symbols.map((symbol) => [symbol, from.get(symbol)]))
    yield { ...options, symbols, since }
  }
  if (feeds.length > 0) yield { ...options, symbols: [], feeds }
}

export const named = (names: readonly string[]): string =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
