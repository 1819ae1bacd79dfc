/** Values in memory, and which of them changed since they were last written. */
export class Remembered<K, V> {
  readonly #values: Map<K, V>
  readonly #changed = new Set<K>()

  constructor(stored: Iterable<readonly [K, V]>) {
    this.#values = new Map(stored)
  }

  get(key: K): V | undefined {
    return this.#values.get(key)
  }

  set(key: K, value: V): void {
    this.#values.set(key, value)
    this.#changed.add(key)
  }

  /** Returns the values changed since the last call, to be written. When that fails, pass them to `putBack`. */
  takeChanged(): ReadonlyMap<K, V> {
    const taken = new Map<K, V>()
    for (const key of this.#changed) taken.set(key, this.#values.get(key) as V)
    this.#changed.clear()
    return taken
  }

  putBack(taken: ReadonlyMap<K, V>): void {
    for (const key of taken.keys()) this.#changed.add(key)
  }

  /** Drops written values that memory no longer needs. */
  forget(isOld: (value: V) => boolean): void {
    for (const [key, value] of this.#values) {
      if (isOld(value) && !this.#changed.has(key)) this.#values.delete(key)
    }
  }
}
