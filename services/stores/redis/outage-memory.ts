import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { RateCall, RateDecision, RateLimits, RateUse } from '../../core/keys/rate-window.ts'
import type { DailyCounters } from '../../core/keys/usage.ts'
import { decideByShare, type KnownUse, nothingKnown } from './outage-share.ts'

/** Maximum keys that a pod remembers for an outage; the least recently used key is dropped. */
const rememberedKeysMax = 50_000
/** Maximum keys and days whose counters wait for Redis; further counters are dropped and counted. */
export const pendingMax = 50_000

const dayMs = 86_400_000
const minuteMs = 60_000

/** Usage of a key on one UTC day while Redis was unavailable. */
export interface Pending {
  readonly keyId: string
  readonly day: number
  /** The newest minute, and the requests admitted in it. */
  minute: number
  admittedInMinute: number
  admitted: number
  readonly counters: Partial<Record<keyof DailyCounters, number>>
}

/** The shared windows that this pod last saw, and its own decisions and counters without them. */
export class OutageMemory {
  readonly #keysMax: number
  readonly #known = new Map<string, KnownUse>()
  #pending = new Map<string, Pending>()
  #dropped = 0

  constructor(keysMax = rememberedKeysMax) {
    this.#keysMax = keysMax
  }

  get keys(): number {
    return this.#known.size
  }

  /** Counters that never reached Redis. */
  get dropped(): number {
    return this.#dropped
  }

  /** Notes the windows of a key as Redis just reported them. */
  see(keyId: string, seen: RateUse): void {
    this.#remember(keyId, { seen, own: (this.#known.get(keyId) ?? nothingKnown).own })
  }

  /** `pods`: the number of pods; `undefined`: this pod has never met the others. */
  decide(
    call: RateCall,
    keyId: string,
    limits: RateLimits,
    nowMs: UtcMs,
    pods: number | undefined,
  ): RateDecision {
    const known = this.#known.get(keyId) ?? nothingKnown
    const { next, decision } = decideByShare(call, known, limits, nowMs, pods)
    this.#remember(keyId, next)
    return decision
  }

  /** Counts usage that is sent to Redis later. */
  count(keyId: string, nowMs: UtcMs, names: readonly (keyof DailyCounters)[], admitted = 0): void {
    const day = Math.floor(nowMs / dayMs)
    const minute = Math.floor(nowMs / minuteMs)
    const id = `${day} ${keyId}`
    const known = this.#pending.get(id)
    if (!known && this.#pending.size >= pendingMax) {
      this.#dropped += 1
      return
    }
    const pending = known ?? { keyId, day, minute, admittedInMinute: 0, admitted: 0, counters: {} }
    if (minute > pending.minute) Object.assign(pending, { minute, admittedInMinute: 0 })
    pending.admitted += admitted
    pending.admittedInMinute += admitted
    for (const name of names) pending.counters[name] = (pending.counters[name] ?? 0) + 1
    this.#pending.set(id, pending)
  }

  get hasPending(): boolean {
    return this.#pending.size > 0
  }

  takePending(): readonly Pending[] {
    const taken = [...this.#pending.values()]
    this.#pending = new Map()
    return taken
  }

  /** For usage that certainly did not reach Redis. */
  putBack(pending: Pending): void {
    const id = `${pending.day} ${pending.keyId}`
    const newer = this.#pending.get(id)
    if (!newer) return void this.#pending.set(id, pending)
    newer.admitted += pending.admitted
    if (newer.minute === pending.minute) newer.admittedInMinute += pending.admittedInMinute
    for (const [name, count] of Object.entries(pending.counters) as [keyof DailyCounters, number][])
      newer.counters[name] = (newer.counters[name] ?? 0) + count
  }

  /** For usage that may have reached Redis: it is never sent again. */
  drop({ counters }: Pending): void {
    for (const count of Object.values(counters)) this.#dropped += count
  }

  #remember(keyId: string, known: KnownUse): void {
    // Inserted again, so that the first entry of the map is the least recently used.
    this.#known.delete(keyId)
    this.#known.set(keyId, known)
    if (this.#known.size <= this.#keysMax) return
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
