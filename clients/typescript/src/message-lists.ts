/** The service reads messages of 64 KiB, and lists of 5,000 names. */
const messageCharsMax = 60_000

/** Lists that fit into a message, each name twice and with a time. */
export function* chunks(names: readonly string[]): Generator<readonly string[]> {
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

export const named = (names: readonly string[]): string =>
  names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
