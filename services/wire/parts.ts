import { partBytesMax } from './limits.ts'

/** Splits a list into parts that fit a message. `bytesOf` estimates an item. An empty list is one empty part. */
export function* partsOf<T>(
  items: Iterable<T>,
  bytesOf: (item: T) => number,
): Generator<{ readonly part: T[]; readonly last: boolean }> {
  let part: T[] = []
  let bytes = 0
  for (const item of items) {
    const size = bytesOf(item)
    if (part.length > 0 && bytes + size > partBytesMax) {
      yield { part, last: false }
      part = []
      bytes = 0
    }
    part.push(item)
    bytes += size
  }
  yield { part, last: true }
}
