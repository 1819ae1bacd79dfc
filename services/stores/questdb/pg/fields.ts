/** Reads the fields of a row one after the other, whatever their lengths. */
export class Fields {
  readonly #view: DataView
  #at: number

  constructor(view: DataView, start: number) {
    this.#view = view
    this.#at = start
  }

  /** A LONG or a TIMESTAMP (µs); NULL is NaN. Exact up to 2^53. */
  long(): number {
    return this.#number((at) => longAt(this.#view, at))
  }

  /** NULL, to which QuestDB turns NaN and infinities, is NaN. */
  double(): number {
    return this.#number((at) => this.#view.getFloat64(at))
  }

  /** NULL is NaN. */
  int(): number {
    return this.#number((at) => this.#view.getInt32(at))
  }

  boolean(): boolean {
    return this.#number((at) => this.#view.getUint8(at)) === 1
  }

  /** A SYMBOL, STRING or VARCHAR; NULL is `undefined`. */
  text(): string | undefined {
    const { at, length } = this.#next()
    if (length < 0) return undefined
    return Buffer.from(this.#view.buffer, this.#view.byteOffset + at, length).toString()
  }

  #number(read: (at: number) => number): number {
    const { at, length } = this.#next()
    return length < 0 ? Number.NaN : read(at)
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
