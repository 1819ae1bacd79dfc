import type { Item } from './types.ts'

/** Items that the program has not taken yet. */
export class Items {
  readonly capacity: number
  #items: Item[] = []
  #head = 0
  #changed = Promise.withResolvers<void>()
  #isAwaited = false

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
    this.wake()
  }

  shift(): Item | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#head += 1
    if (this.#head === this.#items.length || this.#head > 10_000) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    this.wake()
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
  }

  /** Resolves when something changes. */
  changed(): Promise<void> {
    this.#isAwaited = true
    return this.#changed.promise
  }

  /** Resolves when fewer than `count` are left. */
  async below(count: number): Promise<void> {
    while (this.length >= count) await this.changed()
  }

  wake(): void {
    if (!this.#isAwaited) return
    this.#isAwaited = false
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }
}
