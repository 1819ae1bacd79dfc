import type { Encoded } from './encoded.ts'
import type { SymbolId } from './symbol-table.ts'

const rowsAtFirst = 64
const wordsAtFirst = 8

/**
 * One bit per row and column: a row is a socket, a column is a symbol. A socket with 200 of 2,000 symbols
 * costs 250 bytes, and one comparison finds the frames of 32 symbols.
 */
export class BitMatrix {
  /** 32-bit words per row. */
  #words = wordsAtFirst
  #rowsMax = rowsAtFirst
  #bits = new Uint32Array(rowsAtFirst * wordsAtFirst)
  #rows = 0

  /** Number of rows; a row is never removed. */
  get rows(): number {
    return this.#rows
  }

  addRow(): number {
    if (this.#rows === this.#rowsMax) this.#resize(this.#rows * 2, this.#words)
    return this.#rows++
  }

  /** Must be called with the number of each column before any other use of that column. */
  addColumn(column: SymbolId): void {
    if (column >= this.#words * 32) this.#resize(this.#rowsMax, this.#words * 2)
  }

  isSet(row: number, column: SymbolId): boolean {
    return ((this.#bits[this.#at(row, column)] ?? 0) & (1 << (column & 31))) !== 0
  }

  flip(row: number, column: SymbolId): void {
    const at = this.#at(row, column)
    this.#bits[at] = (this.#bits[at] ?? 0) ^ (1 << (column & 31))
  }

  /** Columns whose bit is set, ascending. */
  columnsOf(row: number): SymbolId[] {
    const columns: SymbolId[] = []
    const start = row * this.#words
    for (let word = 0; word < this.#words; word++) {
      for (let bits = this.#bits[start + word] ?? 0; bits !== 0; bits &= bits - 1) {
        columns.push((word * 32 + lowestBit(bits)) as SymbolId)
      }
    }
    return columns
  }

  /** Writes the encoded symbols that the row has to `found`, beginning at `first`. Returns the index after the last. */
  common(
    row: number,
    { words, mask }: Pick<Encoded, 'words' | 'mask'>,
    found: Uint32Array,
    first = 0,
  ): number {
    const start = row * this.#words
    let count = first
    for (const word of words) {
      let bits = (this.#bits[start + word] ?? 0) & (mask[word] ?? 0)
      for (; bits !== 0; bits &= bits - 1) found[count++] = word * 32 + lowestBit(bits)
    }
    return count
  }

  #at(row: number, column: SymbolId): number {
    return row * this.#words + (column >> 5)
  }

  #resize(rowsMax: number, words: number): void {
    const bits = new Uint32Array(rowsMax * words)
    for (let row = 0; row < this.#rows; row++) {
      bits.set(this.#bits.subarray(row * this.#words, (row + 1) * this.#words), row * words)
    }
    this.#bits = bits
    this.#rowsMax = rowsMax
    this.#words = words
  }
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
