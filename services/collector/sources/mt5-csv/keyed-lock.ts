/** A lock per key: one task at a time has it, others wait in the order of their calls. */
export interface KeyedLock<Key extends object> {
  isLocked(key: Key): boolean
  <T>(key: Key, run: () => Promise<T>): Promise<T>
  /** Waits for the lock; resolves with the function that releases it. Rejects when the signal aborts; then the lock is not acquired. */
  acquire(key: Key, signal?: AbortSignal): Promise<() => void>
}

export function createKeyedLock<Key extends object>(): KeyedLock<Key> {
  const last = new WeakMap<Key, Promise<void>>()
  const acquire = async (key: Key, signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted()
    const before = last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    last.set(key, promise)
    void promise.then(() => last.get(key) === promise && last.delete(key))
    try {
      await unlessAborted(before, signal)
    } catch (cause) {
      void before?.then(resolve)
      throw cause
    }
    return resolve
  }
  const locked = async <T>(key: Key, run: () => Promise<T>): Promise<T> => {
    const done = await acquire(key)
    try {
      return await run()
    } finally {
      done()
    }
  }
  return Object.assign(locked, { acquire, isLocked: (key: Key) => last.has(key) })
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
