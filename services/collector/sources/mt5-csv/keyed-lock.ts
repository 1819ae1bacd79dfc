/** A lock per key: one caller at a time has it, others wait in the order of their calls. */
export class KeyedLock<Key extends object> {
  readonly #last = new WeakMap<Key, Promise<void>>()

  isLocked(key: Key): boolean {
    return this.#last.has(key)
  }

  /** Waits for the lock; resolves with the function that releases it. Rejects when the signal aborts; then the lock is not acquired. */
  async acquire(key: Key, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const before = this.#last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last.set(key, promise)
    void promise.then(() => this.#last.get(key) === promise && this.#last.delete(key))
    try {
      await unlessAborted(before, signal)
    } catch (cause) {
      void before?.then(resolve)
      throw cause
    }
    return resolve
  }
}

async function unlessAborted(
  wait: Promise<void> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!signal || !wait) return wait
  const aborted = Promise.withResolvers<never>()
  const abort = (): void => aborted.reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  try {
    await Promise.race([wait, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
