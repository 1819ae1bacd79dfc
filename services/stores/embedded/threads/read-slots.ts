/**
 * Lets at most `max` units in at a time; who comes beyond that waits in line. Something larger than
 * `max` gets in alone.
 */
export class ReadSlots {
  readonly #max: number
  readonly #line = new Set<Visitor>()
  #inside = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Calls `enter` once there is room: at once when there is, later otherwise. Returns how to leave the line. */
  queue(units: number, enter: () => void): () => void {
    const visitor = { units, enter }
    this.#line.add(visitor)
    this.#admit()
    return () => {
      this.#line.delete(visitor)
      this.#admit()
    }
  }

  leave(units: number): void {
    this.#inside -= units
    this.#admit()
  }

  #admit(): void {
    for (const visitor of this.#line) {
      if (this.#inside > 0 && this.#inside + visitor.units > this.#max) return
      this.#line.delete(visitor)
      this.#inside += visitor.units
      visitor.enter()
    }
  }
}

interface Visitor {
  readonly units: number
  readonly enter: () => void
}
