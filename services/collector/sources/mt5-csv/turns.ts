/** Lets only one task at a time work on each thing; others wait in the order in which they came. */
export interface Turns<Thing extends object> {
  isTaken(thing: Thing): boolean
  <T>(thing: Thing, run: () => Promise<T>): Promise<T>
  /** Waits for the thing's turn; the function it resolves to ends it. Rejects with the signal: then there is none. */
  begin(thing: Thing, signal?: AbortSignal): Promise<() => void>
}

export function createTurns<Thing extends object>(): Turns<Thing> {
  const last = new WeakMap<Thing, Promise<void>>()
  const begin = async (thing: Thing, signal?: AbortSignal): Promise<() => void> => {
    signal?.throwIfAborted()
    const before = last.get(thing)
    const { promise, resolve } = Promise.withResolvers<void>()
    last.set(thing, promise)
    void promise.then(() => last.get(thing) === promise && last.delete(thing))
    try {
      await unlessAborted(before, signal)
    } catch (cause) {
      void before?.then(resolve)
      throw cause
    }
    return resolve
  }
  const inTurn = async <T>(thing: Thing, run: () => Promise<T>): Promise<T> => {
    const done = await begin(thing)
    try {
      return await run()
    } finally {
      done()
    }
  }
  return Object.assign(inTurn, { begin, isTaken: (thing: Thing) => last.has(thing) })
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
