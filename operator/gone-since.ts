/** Times since which items have no object. An item whose object reappears is dropped. */
export class GoneSince {
  readonly #since = new Map<string, number>()
  #isWaiting = false

  get isWaiting(): boolean {
    return this.#isWaiting
  }

  record(id: string, nowMs: number): void {
    this.#since.set(id, nowMs)
  }

  clear(): void {
    this.#since.clear()
    this.#isWaiting = false
  }

  /** The items without an object for `forMs` at least. */
  longGone<T>(
    gone: readonly T[],
    idOf: (thing: T) => string,
    { nowMs, forMs }: { readonly nowMs: number; readonly forMs: number },
  ): readonly T[] {
    const ids = new Set(gone.map(idOf))
    for (const id of this.#since.keys()) if (!ids.has(id)) this.#since.delete(id)
    for (const id of ids) if (!this.#since.has(id)) this.#since.set(id, nowMs)
    const long = gone.filter((thing) => (this.#since.get(idOf(thing)) ?? nowMs) <= nowMs - forMs)
    this.#isWaiting = long.length < gone.length
    return long
  }
}
