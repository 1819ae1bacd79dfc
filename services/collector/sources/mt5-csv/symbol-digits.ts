import { digitsMax } from '../../../core/feeds/symbol.ts'
import type { FineLine } from './export/good-lines.ts'

interface OddLine extends FineLine {
  readonly path: string
}

/**
 * The digits of symbols that the manifest does not list. A second line with more decimals raises them. A single one
 * may be damaged, and would multiply the `price_scale` of its symbol.
 */
export class SymbolDigits {
  readonly #digits = new Map<string, number>()
  /** The only line of a symbol with more decimals than its digits allow. */
  readonly #odd = new Map<string, OddLine>()

  of(raw: string): number {
    return this.#digits.get(raw) ?? 0
  }

  get symbols(): Iterable<string> {
    return this.#digits.keys()
  }

  forget(raw: string): void {
    this.#digits.delete(raw)
    this.#odd.delete(raw)
  }

  /** Returns whether the symbol has more digits now. */
  raise(raw: string, digits: number): boolean {
    const before = this.#digits.get(raw)
    if (before !== undefined && before >= digits) return false
    this.#digits.set(raw, digits)
    return true
  }

  /** Called with a line that needs these digits. Returns whether the symbol has more digits now. */
  note(raw: string, line: OddLine): boolean {
    const odd = this.#odd.get(raw)
    const needed = line.decimals
    if (needed <= this.of(raw) || needed > digitsMax) return false
    if (odd === undefined) this.#odd.set(raw, line)
    if (odd === undefined || (odd.path === line.path && odd.line === line.line)) return false
    const greater = odd.decimals > needed ? odd : line
    if (odd.decimals === needed) this.#odd.delete(raw)
    else this.#odd.set(raw, greater)
    return this.raise(raw, Math.min(odd.decimals, needed))
  }
}
