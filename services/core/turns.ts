/** Whom a store is read for. Readers of one key share their turns. */
export interface Reader {
  /** The id of an API key's record, or the name of a part of the service. */
  readonly key: string
  /** Monotonic milliseconds. Of one key's reads those of the reader that began first come first. */
  readonly sinceMs: number
  /** Nobody waits for the reader any more: what it has not been given yet is dropped. */
  readonly isGone?: boolean
  /** A read of the store was answered. */
  readonly answered?: () => void
}

/** Its reads go in the order of asking, before those of requests of its key. */
export const readerNamed = (name: string): Reader => ({ key: name, sinceMs: 0 })

interface Waiting {
  readonly reader: Reader
}

interface KeyQueue<W> {
  /** Those of the reader that began first come first, those of one reader in the order of asking. */
  readonly waiting: W[]
  /** How many were taken since the line began. */
  turns: number
}

/**
 * Of a read's time what it may wait for its turn: a read that waits longer would hardly be answered in time,
 * and its failure leaves its caller time to say so.
 */
export const waitingShare = 3 / 4

/** So many keys can wait with as much as one key may; beyond that the longest line is shortened. */
const fullLinesMax = 4

/**
 * What waits for a bounded resource. Keys take turns: each turn takes one from the key that waited longest
 * for its turn. A key with nothing waiting leaves no trace.
 */
export class Turns<W extends Waiting> {
  readonly #perKeyMax: number
  /** In the order of their next turns. */
  readonly #lines = new Map<string, KeyQueue<W>>()
  #size = 0

  constructor(perKeyMax: number) {
    this.#perKeyMax = perKeyMax
  }

  get size(): number {
    return this.#size
  }

  /**
   * Adds to what waits. At a bound it gives what must leave: the last of its key's line, or of the longest
   * line when too much waits in all. That may be what was added.
   */
  add(waiting: W): W | undefined {
    const { key, sinceMs } = waiting.reader
    const line = this.#lines.get(key) ?? { waiting: [], turns: 0 }
    if (line.waiting.length === 0) this.#lines.set(key, line)
    let at = line.waiting.length
    while (at > 0 && (line.waiting[at - 1] as W).reader.sinceMs > sinceMs) at--
    line.waiting.splice(at, 0, waiting)
    this.#size += 1
    const last = this.#crowded(line)?.waiting.at(-1)
    if (last) this.delete(last)
    return last
  }

  /** Whether it was waiting. */
  delete(waiting: W): boolean {
    const line = this.#lines.get(waiting.reader.key)
    const at = line?.waiting.indexOf(waiting) ?? -1
    if (line === undefined || at < 0) return false
    line.waiting.splice(at, 1)
    this.#size -= 1
    if (line.waiting.length === 0) this.#lines.delete(waiting.reader.key)
    return true
  }

  /** The next in turn, and how many turns its key was given while it waited. */
  take(): { readonly next: W; readonly turnsBefore: number } | undefined {
    const [line] = this.#lines.values()
    const next = this.drop()
    if (line === undefined || next === undefined) return undefined
    line.turns += 1
    return { next, turnsBefore: line.turns - 1 }
  }

  /** The next in turn, where its key is given no turn: the resource is away. */
  drop(): W | undefined {
    for (const [key, line] of this.#lines) {
      const next = line.waiting.shift()
      this.#size -= 1
      this.#lines.delete(key)
      if (line.waiting.length > 0) this.#lines.set(key, line)
      return next
    }
    return undefined
  }

  /** Whether its key was given turns and wants more than these. */
  hasTurns({ reader }: W): boolean {
    return (this.#lines.get(reader.key)?.turns ?? 0) > 0
  }

  #crowded(line: KeyQueue<W>): KeyQueue<W> | undefined {
    if (line.waiting.length > this.#perKeyMax) return line
    if (this.#size <= fullLinesMax * this.#perKeyMax) return undefined
    const lines = [...this.#lines.values()]
    return lines.reduce((longest, each) => (each.waiting.length >= longest.waiting.length ? each : longest))
  }
}
