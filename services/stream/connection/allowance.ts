import type { Cancel, Clock } from '../../ports/clock.ts'

/** Maximum messages, pings and pongs of one socket per second; as many may arrive at once. */
export const messagesPerSecond = 50

/** Messages that may be answered: at most those of one second in a burst. It refills with time. */
export class Allowance {
  readonly #perSecond: number
  #left: number
  #at: number

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond
    this.#left = perSecond
    this.#at = nowMs
  }

  /** Negative if a message cost more than was left. */
  left(nowMs: number): number {
    this.#left = Math.min(this.#perSecond, this.#left + ((nowMs - this.#at) / 1_000) * this.#perSecond)
    this.#at = nowMs
    return this.#left
  }

  spend(messages: number, nowMs: number): void {
    this.#left = this.left(nowMs) - messages
  }

  msUntilFull(nowMs: number): number {
    return ((this.#perSecond - this.left(nowMs)) / this.#perSecond) * 1_000
  }
}

interface KeySockets {
  readonly allowance: Allowance
  sockets: number
  cancel?: Cancel
}

/**
 * One allowance per key, shared by all its sockets in this process. After the last socket of a key left, its
 * allowance is kept until it is full, for some seconds: a quick reconnect does not reset it.
 */
export class KeyAllowances {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #byKey = new Map<string, KeySockets>()

  constructor(clock: Clock, perSecond: number) {
    this.#clock = clock
    this.#perSecond = perSecond
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Returns the allowance for one more socket of the key. */
  open(keyId: string): Allowance {
    const now = this.#clock.monotonicMs()
    const shared = this.#byKey.get(keyId) ?? { allowance: new Allowance(this.#perSecond, now), sockets: 0 }
    this.#byKey.set(keyId, shared)
    shared.cancel?.()
    shared.sockets += 1
    return shared.allowance
  }

  /** One socket of the key left. */
  close(keyId: string): void {
    const shared = this.#byKey.get(keyId)
    if (!shared) return
    shared.sockets -= 1
    if (shared.sockets > 0) return
    const ms = shared.allowance.msUntilFull(this.#clock.monotonicMs())
    if (ms <= 0) this.#byKey.delete(keyId)
    else shared.cancel = this.#clock.after(ms, () => void this.#byKey.delete(keyId))
  }

  /** Must be the last call. */
  stop(): void {
    for (const { cancel } of this.#byKey.values()) cancel?.()
    this.#byKey.clear()
  }
}
