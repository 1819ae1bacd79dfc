import type { Bar } from '../../core/bars/bar.ts'
import { barFrame, barPrefix, type Frames } from './frame.ts'
import type { SymbolId, SymbolTable } from './symbol-table.ts'

/** Makes bar frames; the part that all frames of a symbol begin with is made once. */
export class SymbolFrames {
  readonly #symbols: SymbolTable
  /** By symbol number. */
  readonly #prefixes: (string | undefined)[] = []

  constructor(symbols: SymbolTable) {
    this.#symbols = symbols
  }

  frame(id: SymbolId, bar: Bar): Frames {
    return barFrame(this.#prefix(id), bar)
  }

  #prefix(id: SymbolId): string {
    const known = this.#prefixes[id]
    if (known !== undefined) return known
    while (this.#prefixes.length < id) this.#prefixes.push(undefined)
    return (this.#prefixes[id] = barPrefix(this.#symbols.symbol(id)))
  }
}
