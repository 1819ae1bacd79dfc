/** The reader of a store. Readers of one key share their turns. */
export interface Reader {
  /** The id of an API key's record, or the name of a part of the service. */
  readonly key: string
  /** Start of the reader in monotonic milliseconds; of one key, the reader that began first is served first. */
  readonly sinceMs: number
  /** The caller no longer waits: reads that are not served yet are dropped. */
  readonly isGone?: boolean
  readonly answered?: () => void
}

/** A reader for a part of the service. Reads are served in call order, before requests of the same key. */
export const serviceReader = (name: string): Reader => ({ key: name, sinceMs: 0 })

/** One reader for several of one key: each answer is progress for all, and the read goes on while one of them waits. */
export function sharedReader(readers: ReadonlySet<Reader>): Reader {
  const [{ key, sinceMs }] = [...readers] as [Reader, ...Reader[]]
  return {
    key,
    sinceMs,
    get isGone() {
      return [...readers].every((reader) => reader.isGone)
    },
    answered() {
      for (const reader of readers) reader.answered?.()
    },
  }
}

interface Waiting {
  readonly reader: Reader
  readonly isShort?: boolean
}

interface KeyQueue<W> {
  /** The reader that began first is first; reads of one reader are in the order of the calls. */
  readonly waiting: W[]
  /** Turns taken since the queue was last empty. */
  turns: number
}

/** Share of its deadline that a read may wait: later it would hardly end in time, and its caller reports the failure. */
export const waitingShare = 3 / 4

/** Maximum reads that wait in total, in multiples of the limit of one key; above it the longest queue is shortened. */
const fullQueuesMax = 4

/**
 * A queue for a bounded resource in which keys take turns: each turn takes one entry of the key that waited
 * longest for its turn. Every second turn goes to a key whose next entry is short, if there is one. So a short entry
 * does not wait for a long one of each other key. A key without entries is forgotten.
 */
export class FairQueue<W extends Waiting> {
  readonly perKeyMax: number
  /** The queue of each key, in the order of their next turns. */
  readonly #queues = new Map<string, KeyQueue<W>>()
  #size = 0
  #isTurnOfShort = false

  constructor(perKeyMax: number) {
    this.perKeyMax = perKeyMax
  }

  get size(): number {
    return this.#size
  }

  /**
   * Adds an entry. At a limit it returns the entry that is dropped, possibly the added one: the last one of the
   * same key, or of the longest queue when too many wait in total.
   */
  add(waiting: W): W | undefined {
    const { key, sinceMs } = waiting.reader
    const queue = this.#queues.get(key) ?? { waiting: [], turns: 0 }
    if (queue.waiting.length === 0) this.#queues.set(key, queue)
    let at = queue.waiting.length
    while (at > 0 && (queue.waiting[at - 1] as W).reader.sinceMs > sinceMs) at--
    queue.waiting.splice(at, 0, waiting)
    this.#size += 1
    const last = this.#crowded(queue)?.waiting.at(-1)
    if (last) this.delete(last)
    return last
  }

  /** Returns whether it was waiting. */
  delete(waiting: W): boolean {
    const queue = this.#queues.get(waiting.reader.key)
    const at = queue?.waiting.indexOf(waiting) ?? -1
    if (queue === undefined || at < 0) return false
    queue.waiting.splice(at, 1)
    this.#size -= 1
    if (queue.waiting.length === 0) this.#queues.delete(waiting.reader.key)
    return true
  }

  /** Takes the next entry, and returns how many turns its key was given while the entry waited. */
  take(): { readonly next: W; readonly turnsBefore: number } | undefined {
    this.#isTurnOfShort = !this.#isTurnOfShort
    const queues = [...this.#queues.values()]
    const short = this.#isTurnOfShort ? queues.find(({ waiting }) => waiting[0]?.isShort) : undefined
    const queue = short ?? queues[0]
    if (queue === undefined) return undefined
    queue.turns += 1
    return { next: this.#shift(queue), turnsBefore: queue.turns - 1 }
  }

  /** Takes the next entry without counting a turn of its key: the resource is unavailable. */
  drop(): W | undefined {
    const [queue] = this.#queues.values()
    return queue && this.#shift(queue)
  }

  #shift(queue: KeyQueue<W>): W {
    // A key without entries has no queue.
    const next = queue.waiting.shift() as W
    const { key } = next.reader
    this.#size -= 1
    this.#queues.delete(key)
    if (queue.waiting.length > 0) this.#queues.set(key, queue)
    return next
  }

  /** Whether the key was given turns and has entries waiting. */
  hasTurns({ reader }: W): boolean {
    return (this.#queues.get(reader.key)?.turns ?? 0) > 0
  }

  #crowded(queue: KeyQueue<W>): KeyQueue<W> | undefined {
    if (queue.waiting.length > this.perKeyMax) return queue
    if (this.#size <= fullQueuesMax * this.perKeyMax) return undefined
    const queues = [...this.#queues.values()]
    return queues.reduce((longest, each) => (each.waiting.length >= longest.waiting.length ? each : longest))
  }
}
