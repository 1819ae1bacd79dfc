/** Work that was begun and has not ended. */
export class WorkInFlight {
  #count = 0
  #all: Promise<unknown> = Promise.resolve()

  get isEmpty(): boolean {
    return this.#count === 0
  }

  add(work: Promise<unknown>): void {
    this.#count += 1
    // One promise for all callers. A list for each caller would take memory with the square of the work in flight.
    // The result is dropped, because it would keep the results of all earlier work.
    const all = Promise.all([this.#all, work]).then(() => undefined)
    // Callers of `settled` get the rejection.
    all.catch(() => undefined)
    this.#all = all
    const end = (): void => {
      this.#count -= 1
      if (this.isEmpty) this.#all = Promise.resolve()
    }
    work.then(end, end)
  }

  /** Resolves once all work added so far has succeeded; rejects when any of it fails. */
  async settled(): Promise<void> {
    await this.#all
  }
}
