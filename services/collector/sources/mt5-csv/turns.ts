/** Lets only one task at a time work on each thing; others wait in the order in which they came. */
export interface Turns<Thing extends object> {
  <T>(thing: Thing, run: () => Promise<T>): Promise<T>
  /** Waits for the thing's turn; the function it resolves to ends it. */
  begin(thing: Thing): Promise<() => void>
}

export function createTurns<Thing extends object>(): Turns<Thing> {
  const last = new WeakMap<Thing, Promise<void>>()
  const begin = async (thing: Thing): Promise<() => void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = last.get(thing)
    last.set(thing, promise)
    await before
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
  return Object.assign(inTurn, { begin })
}
