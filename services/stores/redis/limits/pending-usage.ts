import { dayMs, minuteMs } from '../../../core/clocks/calendar.ts'
import type { UtcMs } from '../../../core/clocks/feed-clock.ts'
import type { DailyCounters } from '../../../core/keys/usage.ts'

/** Maximum keys and days whose counters wait for Redis; further counters are dropped and counted. */
export const pendingMax = 50_000

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

/** Usage that was counted without Redis and is sent to it later. */
export class PendingUsage {
  #pending = new Map<string, Pending>()
  #dropped = 0

  /** Counters that never reached Redis. */
  get dropped(): number {
    return this.#dropped
  }

  get isEmpty(): boolean {
    return this.#pending.size === 0
  }

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

  take(): readonly Pending[] {
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
}
