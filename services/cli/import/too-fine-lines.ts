/** Lines that were refused because the symbol has fewer digits. */
export interface TooFine {
  readonly count: number
  /** Digits that accept them, except a single line with more decimals than all others. */
  readonly digits: number
}

/** Counts refused lines by the digits that they need. A single one may be damaged, so it is not reported. */
export class TooFineLines {
  #count = 0
  #most = 0
  /** The second greatest of all lines. */
  #digits = 0

  add(digits: number): void {
    this.#count++
    this.#digits = Math.max(this.#digits, Math.min(this.#most, digits))
    this.#most = Math.max(this.#most, digits)
  }

  get report(): { too_fine?: TooFine } {
    return this.#count > 1 ? { too_fine: { count: this.#count, digits: this.#digits } } : {}
  }
}
