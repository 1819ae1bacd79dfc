import { Backoff } from '../../services/platform/backoff.ts'
import type { Log } from '../../services/platform/log/log.ts'
import type { Cancel, Clock } from '../../services/platform/system-clock.ts'

const retryPauses = { firstMs: 1_000, maxMs: 60_000, jitter: 'none' } as const
/** Maximum delay of a reconcile, because a timer is limited to 24 days. A name with a longer delay runs early. */
const againMaxMs = 3_600_000

/** Failures of a name in a row. */
interface Failures {
  readonly sinceMs: number
  readonly pauses: Backoff
}

type Reconcile = (name: string, failingMs: number) => Promise<number | undefined>

/** One name at a time; failures are retried with growing delays. A name that is added several times is reconciled once. */
export class WorkQueue {
  readonly #reconcile: Reconcile
  readonly #clock: Clock
  readonly #log: Log
  readonly #urgent = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #delayed = new Map<string, Cancel>()
  readonly #failures = new Map<string, Failures>()
  #working: Promise<void> | undefined
  #isClosed = false

  /** `reconcile` gets the time since the first failure in a row, or 0. It may return milliseconds until it runs again. */
  constructor(reconcile: Reconcile, clock: Clock, log: Log) {
    this.#reconcile = reconcile
    this.#clock = clock
    this.#log = log
  }

  /** Number of names that wait, including for a retry. */
  get size(): number {
    return this.#urgent.size + this.#waiting.size + this.#delayed.size
  }

  add(name: string, isUrgent = false): void {
    if (this.#isClosed) return
    this.#undelay(name)
    if (isUrgent) {
      this.#waiting.delete(name)
      this.#urgent.add(name)
    } else if (!this.#urgent.has(name)) this.#waiting.add(name)
    this.#working ??= Promise.resolve().then(() => this.#work())
  }

  /** Starts no further reconcile. Resolves when the running one has ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#urgent.clear()
    this.#waiting.clear()
    for (const cancel of this.#delayed.values()) cancel()
    this.#delayed.clear()
    await this.#working
  }

  async #work(): Promise<void> {
    for (let name = this.#next(); name !== undefined; name = this.#next()) await this.#once(name)
    this.#working = undefined
  }

  #next(): string | undefined {
    for (const names of [this.#urgent, this.#waiting])
      for (const name of names) {
        names.delete(name)
        return name
      }
    return undefined
  }

  async #once(name: string): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    const failures = this.#failures.get(name) ?? {
      sinceMs: nowMs,
      pauses: new Backoff(this.#clock, retryPauses),
    }
    try {
      const againMs = await this.#reconcile(name, nowMs - failures.sinceMs)
      this.#failures.delete(name)
      if (againMs !== undefined) this.#delay(name, Math.min(againMs, againMaxMs))
    } catch (cause) {
      this.#failures.set(name, failures)
      const retryInMs = failures.pauses.nextMs()
      this.#log.warn({ err: cause, name, retryInMs }, 'failed to reconcile; retrying')
      this.#delay(name, retryInMs)
    }
  }

  #delay(name: string, delayMs: number): void {
    if (this.#isClosed || this.#urgent.has(name) || this.#waiting.has(name)) return
    this.#undelay(name)
    this.#delayed.set(
      name,
      this.#clock.after(delayMs, () => {
        this.#delayed.delete(name)
        this.add(name)
      }),
    )
  }

  #undelay(name: string): void {
    this.#delayed.get(name)?.()
    this.#delayed.delete(name)
  }
}
