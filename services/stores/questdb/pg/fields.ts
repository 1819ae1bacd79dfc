/** Reads the fields of a row one after another, whatever their lengths. */
export class Fields {
  readonly #view: DataView
  #at: number

  constructor(view: DataView, start: number) {
    this.#view = view
    this.#at = start
  }

  /** A whole number of any width, or a TIMESTAMP (µs); NULL is NaN. Exact up to 2^53. */
  long(): number {
    const { at, length } = this.#next()
    if (length < 0) return Number.NaN
    if (length === 8) return longAt(this.#view, at)
    if (length === 4) return this.#view.getInt32(at)
    if (length === 2) return this.#view.getInt16(at)
    throw new RangeError(`a whole number of ${length} bytes`)
  }

  /** NULL is NaN. QuestDB stores NaN and infinities as NULL. */
  double(): number {
    const { at, length } = this.#next()
    if (length < 0) return Number.NaN
    if (length !== 8) throw new RangeError(`a double of ${length} bytes`)
    return this.#view.getFloat64(at)
  }

  /** NULL is `false`. */
  boolean(): boolean {
    const { at, length } = this.#next()
    return length === 1 && this.#view.getUint8(at) === 1
  }

  /** A SYMBOL, STRING or VARCHAR; NULL is `undefined`. */
  text(): string | undefined {
    const { at, length } = this.#next()
    if (length < 0) return undefined
    return Buffer.from(this.#view.buffer, this.#view.byteOffset + at, length).toString()
  }

  #next(): { at: number; length: number } {
    const length = this.#view.getInt32(this.#at)
    const at = this.#at + 4
    this.#at = at + Math.max(0, length)
    return { at, length }
  }
}

/** Without a BigInt, which would cost more than the rest of the row. */
export const longAt = (view: DataView, at: number): number =>
  view.getInt32(at) * 4_294_967_296 + view.getUint32(at + 4)
