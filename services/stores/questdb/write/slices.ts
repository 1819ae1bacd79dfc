import { type EncodedRows, rowBytes } from './rows.ts'

/** The rows `[from, to)`. */
interface Slice {
  readonly from: number
  readonly to: number
}

/** Some rows of a piece, in their order. */
export class Slices {
  readonly #rows: EncodedRows
  readonly #slices: readonly Slice[]
  readonly count: number

  constructor(rows: EncodedRows, slices: readonly Slice[] = [{ from: 0, to: rows.ends.length }]) {
    this.#rows = rows
    this.#slices = slices.filter(({ from, to }) => from < to)
    this.count = this.#slices.reduce((sum, { from, to }) => sum + to - from, 0)
  }

  bytes(): Buffer {
    return Buffer.concat(this.#slices.map(({ from, to }) => rowBytes(this.#rows, from, to)))
  }

  lines(): readonly Buffer[] {
    return this.#slices.flatMap(({ from, to }) =>
      Array.from({ length: to - from }, (_, i) => rowBytes(this.#rows, from + i, from + i + 1)),
    )
  }

  /** The row at position `at`, counted from 0, and the other rows. */
  takeOut(at: number): readonly [Slices, Slices] {
    return [
      this.#cut(at, at + 1),
      new Slices(this.#rows, [...this.#cutSlices(0, at), ...this.#cutSlices(at + 1, this.count)]),
    ]
  }

  halves(): readonly [Slices, Slices] {
    const middle = this.count >>> 1
    return [this.#cut(0, middle), this.#cut(middle, this.count)]
  }

  #cut(from: number, to: number): Slices {
    return new Slices(this.#rows, this.#cutSlices(from, to))
  }

  #cutSlices(from: number, to: number): readonly Slice[] {
    let begin = 0
    return this.#slices.map((slice) => {
      const shift = slice.from - begin
      begin += slice.to - slice.from
      return { from: Math.max(slice.from, from + shift), to: Math.min(slice.to, to + shift) }
    })
  }
}
