/** Bounds what is under way; whoever finds it full waits in line. */
export class Room {
  readonly #size: number
  #taken = 0
  readonly #line: { readonly weight: number; readonly enter: () => void }[] = []

  constructor(size: number) {
    this.#size = size
  }

  /** Resolves when there is room for so much; what is larger than the whole room has it for itself. */
  enter(weight: number): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push({ weight, enter: resolve })
      this.#admit()
    })
  }

  leave(weight: number): void {
    this.#taken -= weight
    this.#admit()
  }

  #admit(): void {
    for (let next = this.#line[0]; next; next = this.#line[0]) {
      if (this.#taken > 0 && this.#taken + next.weight > this.#size) return
      this.#line.shift()
      this.#taken += next.weight
      next.enter()
    }
  }
}
