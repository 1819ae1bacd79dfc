import { open } from 'node:fs/promises'
import type { FileShape } from './inspect-file.ts'

/** Characters of `YYYY.MM.DD`, and with a separator and `HH:MM`. As text they sort like the times. */
const dateLength = 10
const minuteLength = 16
const chunkBytes = 1 << 20
const lineFeed = 10

export interface LineOrder {
  readonly lines: number
  /** Every line is later than the one before it. */
  readonly ascends: boolean
}

/**
 * Scans a file once to find whether its lines ascend, from the beginnings of the lines only. A damaged line can make
 * an ascending file look unsorted, which only costs time. An unsorted file never looks ascending.
 * `onRead` is called with the number of further bytes that were read.
 */
export async function scanOrder(
  path: string,
  shape: FileShape,
  onRead: (bytes: number) => void = () => undefined,
): Promise<LineOrder> {
  const scan = new LineScan(shape)
  const file = await open(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(chunkBytes)
    let carried = 0
    for (let at = shape.markBytes; ; ) {
      const { bytesRead } = await file.read(bytes, carried, chunkBytes - carried, at)
      const filled = bytes.subarray(0, carried + bytesRead)
      const taken = bytesRead === 0 ? scan.takeLast(filled) : scan.take(filled)
      if (bytesRead === 0) return scan.order
      at += bytesRead
      onRead(bytesRead)
      // A longer line means that the file is no export; reading the file reports that.
      carried = taken === 0 && filled.length === chunkBytes ? 0 : filled.length - taken
      bytes.copyWithin(0, taken, filled.length)
    }
  } finally {
    await file.close()
  }
}

class LineScan {
  /** Bytes of a line that are compared. */
  readonly #prefixBytes: number
  readonly #wide: boolean
  /** In UTF-16, the offset of the low byte of a character. */
  readonly #low: number
  readonly #before: Uint8Array
  #isHeader: boolean
  #lines = 0
  #ascends = true

  constructor({ layout, encoding }: FileShape) {
    this.#wide = encoding !== 'utf-8'
    this.#low = encoding === 'utf-16be' ? 1 : 0
    this.#prefixBytes = (layout.hasTime ? minuteLength : dateLength) * (this.#wide ? 2 : 1)
    this.#before = new Uint8Array(this.#prefixBytes)
    this.#isHeader = layout.hasHeader
  }

  get order(): LineOrder {
    return { lines: this.#lines, ascends: this.#ascends }
  }

  /** Processes the complete lines; returns their number of bytes. */
  take(bytes: Buffer): number {
    let start = 0
    for (let end = this.#lineEnd(bytes, start); end > 0; end = this.#lineEnd(bytes, start)) {
      this.#line(bytes, start, end)
      start = end
    }
    return start
  }

  /** Processes a last line, which may have no line end. */
  takeLast(bytes: Buffer): number {
    if (bytes.length > 0) this.#line(bytes, 0, bytes.length)
    return bytes.length
  }

  /** Returns the offset after the next line feed; 0 when there is none. */
  #lineEnd(bytes: Buffer, from: number): number {
    let at = bytes.indexOf(lineFeed, from)
    if (!this.#wide) return at + 1
    while (at >= 0 && (at % 2 !== this.#low || bytes[at + 1 - 2 * this.#low] !== 0))
      at = bytes.indexOf(lineFeed, at + 1)
    return at < 0 ? 0 : at + 2 - this.#low
  }

  #line(bytes: Buffer, start: number, end: number): void {
    this.#lines++
    // Too short for a time: a blank or damaged line.
    if (end - start < this.#prefixBytes) return
    if (this.#isHeader) this.#isHeader = false
    else this.#compare(bytes, start)
  }

  #compare(bytes: Buffer, start: number): void {
    const before = this.#before
    const prefix = this.#prefixBytes
    let i = 0
    while (i < prefix && bytes[start + i] === before[i]) i++
    if (i === prefix || (bytes[start + i] as number) < (before[i] as number)) this.#ascends = false
    for (; i < prefix; i++) before[i] = bytes[start + i] as number
  }
}
