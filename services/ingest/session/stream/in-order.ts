/** Runs work in order of arrival. What need not wait runs inside the call: a live bar costs no turn of the event loop. */
export class InOrder {
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  readonly #onFailure: (cause: unknown) => void
  readonly #onFinished: () => void

  /** `onFinished`: called after each work that waited. */
  constructor(onFailure: (cause: unknown) => void, onFinished: () => void) {
    this.#onFailure = onFailure
    this.#onFinished = onFinished
  }

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
        this.#onFinished()
      })
  }
}
