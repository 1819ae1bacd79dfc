import type { Log } from '../platform/log.ts'
import type { Cancel, Clock } from '../ports/clock.ts'
import { type SlotOutcome, type Slots, slotRenewMs } from '../ports/slots.ts'
import type { StreamMetrics } from './metrics.ts'

/** The slots this process holds: taken, renewed together every 20 s, and freed exactly once. */
export class Sessions {
  readonly #slots: Slots
  readonly #log: Log
  readonly #failures: StreamMetrics['slotFailures']
  /** Key id by session id. */
  readonly #held = new Map<string, string>()
  readonly #stop: Cancel

  constructor(slots: Slots, clock: Clock, log: Log, metrics: StreamMetrics) {
    this.#slots = slots
    this.#log = log
    this.#failures = metrics.slotFailures
    this.#stop = clock.every(slotRenewMs, () => void this.#renew())
  }

  /** Rejects when it cannot be known whether the slot is taken; it is given back then. */
  async open(keyId: string, sessionId: string, cap: number): Promise<SlotOutcome> {
    try {
      const outcome = await this.#slots.open(keyId, sessionId, cap)
      if (outcome.outcome === 'open') this.#held.set(sessionId, keyId)
      return outcome
    } catch (cause) {
      this.#failed('open', cause)
      this.#held.set(sessionId, keyId)
      void this.close(sessionId)
      throw cause
    }
  }

  /** Never rejects: a slot that could not be freed lapses with its lease. */
  async close(sessionId: string): Promise<void> {
    const keyId = this.#held.get(sessionId)
    if (keyId === undefined) return
    this.#held.delete(sessionId)
    try {
      await this.#slots.close(keyId, sessionId)
    } catch (cause) {
      this.#failed('close', cause)
    }
  }

  stop(): void {
    this.#stop()
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return
    try {
      await this.#slots.renew([...this.#held].map(([sessionId, keyId]) => ({ keyId, sessionId })))
    } catch (cause) {
      this.#failed('renew', cause)
    }
  }

  #failed(call: 'open' | 'close' | 'renew', cause: unknown): void {
    this.#failures.inc({ call })
    this.#log.warn({ err: cause, call }, 'slots could not be reached')
  }
}
