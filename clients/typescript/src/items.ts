import type { Item } from './types.ts'

/** Items that the program has not taken yet. */
export class Items {
  readonly capacity: number
  #items: Item[] = []
  #head = 0
  #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  #wake: (() => void) | undefined
  #changed: Promise<void> | undefined

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
    if (this.#waiting.length > 0) this.#release()
    return item
  }

  clear(): void {
    this.#items = []
    this.#head = 0
    this.#release()
  }

  /** Resolves when fewer are left. */
  below(count: number): Promise<void> {
    if (this.length < count) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push({ count, resolve }))
  }

  /** Resolves at the next `push` or `wake`. */
  changed(): Promise<void> {
    this.#changed ??= new Promise((resolve) => {
      this.#wake = resolve
    })
    return this.#changed
  }

  wake(): void {
    this.#wake?.()
    this.#wake = undefined
    this.#changed = undefined
  }

  #release(): void {
    const { length } = this
    for (const { count, resolve } of this.#waiting) if (length < count) resolve()
    this.#waiting = this.#waiting.filter(({ count }) => length >= count)
  }
}
