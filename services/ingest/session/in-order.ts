/**
 * Runs work in the order it came. What can be done at once is done inside the call, so that a live
 * bar costs no turn of the loop; only what must wait makes the later ones wait.
 */
export class InOrder {
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  readonly #onFailure: (cause: unknown) => void

  constructor(onFailure: (cause: unknown) => void) {
    this.#onFailure = onFailure
  }

  /** Pieces of work that have not ended. */
  get length(): number {
    return this.#waiting
  }

  run(work: () => Promise<void> | void): void {
    if (this.#waiting > 0) return this.#append(work)
    try {
      const running = work()
      if (running) this.#append(() => running)
    } catch (cause) {
      this.#onFailure(cause)
    }
  }

  #append(work: () => Promise<void> | void): void {
    this.#waiting += 1
    this.#last = this.#last
      .then(work)
      .catch(this.#onFailure)
      .finally(() => {
        this.#waiting -= 1
      })
  }
}
