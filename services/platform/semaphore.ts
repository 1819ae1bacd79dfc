/** Bounds what is under way; whoever finds it full waits in line. */
export class Semaphore {
  readonly #size: number
  readonly #signal: AbortSignal | undefined
  #taken = 0
  #line: { readonly weight: number; readonly enter: () => void; readonly fail: (cause: unknown) => void }[] =
    []

  /** With the signal every wait ends. */
  constructor(size: number, signal?: AbortSignal) {
    this.#size = size
    this.#signal = signal
    signal?.addEventListener('abort', () => {
      for (const { fail } of this.#line.splice(0)) fail(signal.reason)
    })
  }

  /**
   * Resolves when there is room for so much; what is larger than the whole room has it for itself.
   * Rejects with the signal's reason; then there is nothing to leave.
   */
  enter(weight: number): Promise<void> {
    if (this.#signal?.aborted) return Promise.reject(this.#signal.reason as Error)
    return new Promise((enter, fail) => {
      this.#line.push({ weight, enter, fail })
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
