/** The encoding of an export. Terminals write UTF-16 or UTF-8, with or without a byte order mark. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** Detects the encoding by a mark, or by a zero byte beside the first ASCII character. `markBytes` are to be skipped. */
export function detectEncoding(head: Uint8Array): { encoding: Encoding; markBytes: number } {
  const [a, b, c] = head
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', markBytes: 2 }
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', markBytes: 2 }
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', markBytes: 3 }
  if (a !== 0 && b === 0) return { encoding: 'utf-16le', markBytes: 0 }
  if (a === 0 && b !== undefined && b !== 0) return { encoding: 'utf-16be', markBytes: 0 }
  return { encoding: 'utf-8', markBytes: 0 }
}

const lineFeed = 10

/** Returns the end (exclusive) of the last complete line in the bytes; 0 when there is none. */
export function completeEnd(bytes: Uint8Array, encoding: Encoding): number {
  if (encoding === 'utf-8') return bytes.lastIndexOf(lineFeed) + 1
  const low = encoding === 'utf-16le' ? 0 : 1
  for (let i = bytes.length - (bytes.length % 2) - 2; i >= 0; i -= 2) {
    if (bytes[i + low] === lineFeed && bytes[i + 1 - low] === 0) return i + 2
  }
  return 0
}

/** Returns the offset of the line that follows `before` line ends; the bytes contain all of them. */
export function lineStart(bytes: Uint8Array, encoding: Encoding, before: number): number {
  let at = 0
  for (let line = 0; line < before; line++) at = lineEnd(bytes, encoding, at)
  return at
}

/** Returns the offset after the next line end; 0 when there is none. The bytes begin with a character. */
export function lineEnd(bytes: Uint8Array, encoding: Encoding, from: number): number {
  let at = bytes.indexOf(lineFeed, from)
  if (encoding === 'utf-8') return at + 1
  const low = encoding === 'utf-16le' ? 0 : 1
  while (at >= 0 && (at % 2 !== low || bytes[at + 1 - 2 * low] !== 0)) at = bytes.indexOf(lineFeed, at + 1)
  return at < 0 ? 0 : at + 2 - low
}

/** Decodes whole lines. A broken sequence becomes U+FFFD, which no field accepts, so its line is rejected. */
export const decode = (bytes: Uint8Array, encoding: Encoding): string =>
  new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)

/** A line without its end; MT writes CRLF, tools write LF. */
export const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)
