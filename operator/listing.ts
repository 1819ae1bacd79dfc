import type { Clock } from '../services/platform/system-clock.ts'
import { NotReady, notReadyOf } from './kube/not-ready.ts'

interface Row {
  /** Increases with each change of the row. */
  readonly version: number
}

/** Time of failed reads after which the rows are outdated. */
export const outdatedMs = 60_000

/** One list of the registry as last read, with the rows that this operator's calls stored since. */
export class Listing<T extends Row> {
  readonly #what: string
  readonly #read: () => Promise<Map<string, T>>
  #rows = new Map<string, T>()
  #isLoaded = false
  #failure: NotReady | undefined
  readonly #clock: Clock
  /** Monotonic milliseconds of the first failed read since the last good one. */
  #failingSinceMs: number | undefined
  #reads = 0
  /** Rows that calls stored during a read, whose result may lack them. */
  readonly #stored = new Map<string, T>()

  /** `read` returns all rows by id; `what` names them in error texts. */
  constructor(what: string, clock: Clock, read: () => Promise<Map<string, T>>) {
    this.#what = what
    this.#clock = clock
    this.#read = read
  }

  get isLoaded(): boolean {
    return this.#isLoaded
  }

  /** Why the last `refresh` failed; `undefined`: it succeeded. */
  get failure(): NotReady | undefined {
    return this.#failure
  }

  get isOutdated(): boolean {
    const sinceMs = this.#failingSinceMs
    return sinceMs !== undefined && this.#clock.monotonicMs() - sinceMs >= outdatedMs
  }

  get(id: string): T | undefined {
    return this.#rows.get(id)
  }

  values(): Iterable<T> {
    return this.#rows.values()
  }

  /** Reads the list. Rejects as `read` does, and then keeps the earlier rows. */
  async refresh(): Promise<void> {
    this.#reads += 1
    try {
      const rows = await this.#read()
      for (const [id, row] of this.#stored) if (row.version >= (rows.get(id)?.version ?? 0)) rows.set(id, row)
      this.#rows = rows
      this.#isLoaded = true
      this.#failure = undefined
      this.#failingSinceMs = undefined
    } catch (cause) {
      this.#failingSinceMs ??= this.#clock.monotonicMs()
      const message = `The ${this.#what} of the registry cannot be read: ${(cause as Error).message}`
      this.#failure = new NotReady(notReadyOf(cause)?.reason ?? 'Unavailable', message)
      throw cause
    } finally {
      this.#reads -= 1
      if (this.#reads === 0) this.#stored.clear()
    }
  }

  set(id: string, row: T): void {
    this.#rows.set(id, row)
    if (this.#reads > 0) this.#stored.set(id, row)
  }
}
