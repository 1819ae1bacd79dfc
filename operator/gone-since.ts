/** Now, and the time before which an item must have lost its object. Monotonic milliseconds. */
export interface Moment {
  readonly nowMs: number
  readonly beforeMs: number
}

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

  longGone<T>(gone: readonly T[], idOf: (thing: T) => string, { nowMs, beforeMs }: Moment): readonly T[] {
    const ids = new Set(gone.map(idOf))
    for (const id of this.#since.keys()) if (!ids.has(id)) this.#since.delete(id)
    for (const id of ids) if (!this.#since.has(id)) this.#since.set(id, nowMs)
    const long = gone.filter((thing) => (this.#since.get(idOf(thing)) ?? nowMs) <= beforeMs)
    this.#isWaiting = long.length < gone.length
    return long
  }
}
