import { Backoff } from '../../services/platform/backoff.ts'
import type { Log } from '../../services/platform/log/log.ts'
import type { Cancel, Clock } from '../../services/platform/system-clock.ts'

const retryMinMs = 1_000
const retryMaxMs = 60_000
/** A timer holds no more than 24 days; a name that waits longer is looked at in between. */
const againMaxMs = 3_600_000

/**
 * Reconciles what may have changed, by name: each name once at a time, one after another, and again after a failure
 * with growing delays. Urgent names come before all others. Level-based: however often a name is added, the next look
 * sees what is true then.
 */
export class WorkQueue {
  readonly #reconcile: (name: string) => Promise<number | undefined>
  readonly #clock: Clock
  readonly #log: Log
  readonly #urgent = new Set<string>()
  readonly #waiting = new Set<string>()
  readonly #delayed = new Map<string, Cancel>()
  readonly #retries = new Map<string, Backoff>()
  #working: Promise<void> | undefined
  #isClosed = false

  /** `reconcile` may give milliseconds after which the name is looked at again. */
  constructor(reconcile: (name: string) => Promise<number | undefined>, clock: Clock, log: Log) {
    this.#reconcile = reconcile
    this.#clock = clock
    this.#log = log
  }

  /** Names that wait or failed. */
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

  /** Begins no further look; resolves when the one under way has ended. */
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

  /** Takes the name that comes next. */
  #next(): string | undefined {
    for (const names of [this.#urgent, this.#waiting])
      for (const name of names) {
        names.delete(name)
        return name
      }
    return undefined
  }

  async #once(name: string): Promise<void> {
    try {
      const againMs = await this.#reconcile(name)
      this.#retries.delete(name)
      if (againMs !== undefined) this.#delay(name, Math.min(againMs, againMaxMs))
    } catch (cause) {
      const retries = this.#retries.get(name) ?? this.#newRetries()
      this.#retries.set(name, retries)
      const retryInMs = retries.nextMs()
      this.#log.warn({ err: cause, name, retryInMs }, 'failed to reconcile; retrying')
      this.#delay(name, retryInMs)
    }
  }

  #newRetries(): Backoff {
    return new Backoff(this.#clock, { firstMs: retryMinMs, maxMs: retryMaxMs, jitter: 'none' })
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
