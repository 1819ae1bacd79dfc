interface Waiter {
  readonly weight: number
  readonly enter: () => void
  readonly cancelled: (cause: unknown) => void
}

/** Limits the total weight of calls under way; others wait in order. A call heavier than the limit enters alone. */
export class Semaphore {
  readonly #size: number
  readonly #signal: AbortSignal | undefined
  readonly #queue = new Set<Waiter>()
  #taken = 0

  /** Once the signal aborts, `enter` rejects with its reason, and waiting calls reject too. */
  constructor(size: number, signal?: AbortSignal) {
    this.#size = size
    this.#signal = signal
    signal?.addEventListener('abort', () => {
      const waiters = [...this.#queue]
      this.#queue.clear()
      for (const { cancelled } of waiters) cancelled(signal.reason)
    })
  }

  /** Resolves once the weight is taken. After a rejection there is nothing to leave. */
  enter(weight: number): Promise<void> {
    if (this.#signal?.aborted) return Promise.reject(this.#signal.reason as Error)
    return new Promise((enter, cancelled) => void this.#add({ weight, enter, cancelled }))
  }

  /** Calls `enter` once the weight is taken, if possible inside this call. Returns what cancels the wait. */
  queue(weight: number, enter: () => void): () => void {
    return this.#add({ weight, enter, cancelled: () => undefined })
  }

  leave(weight: number): void {
    this.#taken -= weight
    this.#admit()
  }

  #add(waiter: Waiter): () => void {
    this.#queue.add(waiter)
    this.#admit()
    return () => {
      if (this.#queue.delete(waiter)) this.#admit()
    }
  }

  #admit(): void {
    for (const next of this.#queue) {
      if (this.#taken > 0 && this.#taken + next.weight > this.#size) return
      this.#queue.delete(next)
      this.#taken += next.weight
      next.enter()
    }
  }
}
