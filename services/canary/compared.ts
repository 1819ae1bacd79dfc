import type { Bar } from '../core/bars/bar.ts'

/** Maximum bars remembered per symbol; the oldest are dropped first and not compared again. */
export const rememberedMax = 180

/** A GAP frame: bars that opened after `after` and not after `until` may be missing. Absent: without that limit. */
export interface NamedGap {
  readonly after?: number | undefined
  readonly until?: number | undefined
}

export interface Difference {
  /** Bars in history that for the settling time were neither pushed nor named by a gap. */
  readonly missed: number
  /** Pushed bars that history has with other values or, after the settling time, does not have. */
  readonly differing: number
}

type Entry =
  | { readonly state: 'pushed'; readonly bar: Bar; readonly atMs: number; readonly differs: boolean }
  /** History has it, the client does not; `sinceMs` counts time on open sockets. */
  | { readonly state: 'awaited'; readonly sinceMs: number }
  | { readonly state: 'missed' }

interface Range {
  readonly after: number
  readonly until: number
}

const barSeconds = 60
/** Maximum difference between the clocks of service and client; one bar too many in a gap is harmless. */
const clockSlackSeconds = 5

const fields = ['open', 'high', 'low', 'close', 'volume'] as const
const isSame = (a: Bar, b: Bar): boolean => fields.every((field) => a[field] === b[field])

/**
 * Compares the pushed bars of one symbol with history. Each bar is counted once. Times of bars are epoch seconds on
 * the feed's clock, other times are monotonic milliseconds. Keeps at most `rememberedMax` bars and as many gaps.
 */
export class Compared {
  readonly #settleMs: number
  readonly #entries = new Map<number, Entry>()
  /** An infinite end is set to the newest bar of the next comparison. */
  #gaps: Range[] = []
  /** Only later bars are compared; `undefined`: no bar was pushed yet. */
  #from: number | undefined
  /** When the symbol was subscribed on the open socket; `undefined`: it is not subscribed. */
  #liveSinceMs: number | undefined
  /** Subscribed time on earlier sockets. */
  #wasLiveMs = 0

  constructor(settleMs: number) {
    this.#settleMs = settleMs
  }

  /** Time of the newest bar that the client has, or after which it follows the symbol. */
  get newest(): number | undefined {
    let newest = this.#from
    for (const [time, { state }] of this.#entries)
      if (state === 'pushed' && time > (newest ?? 0)) newest = time
    return newest
  }

  get size(): number {
    return this.#entries.size
  }

  /** Starts to follow the symbol after this time; no effect when it is followed already. */
  follow(after: number): void {
    this.#from ??= after
  }

  /** Sets whether an open socket has the symbol from now on. A repeat has no effect. */
  live(isLive: boolean, nowMs: number): void {
    this.#wasLiveMs = this.#liveMs(nowMs)
    this.#liveSinceMs = isLive ? nowMs : undefined
  }

  /** Total time that the symbol was subscribed on open sockets. */
  #liveMs(nowMs: number): number {
    return this.#wasLiveMs + (this.#liveSinceMs === undefined ? 0 : nowMs - this.#liveSinceMs)
  }

  pushed(bar: Bar, nowMs: number): void {
    this.follow(bar.time - 1)
    if (bar.time <= (this.#from ?? 0)) return
    this.#entries.set(bar.time, { state: 'pushed', bar, atMs: nowMs, differs: false })
    this.#evict()
  }

  /** `feedNow`: the time of arrival on the feed's clock; `undefined`: the offset of that clock is unknown. */
  gap({ after = Number.NEGATIVE_INFINITY, until }: NamedGap, feedNow: number | undefined): void {
    this.#gaps.push({ after, until: until ?? newestClosed(feedNow) })
    this.#gaps = this.#gaps.slice(-rememberedMax)
  }

  /** Compares with the newest bars of history, ascending and complete after the first of them. */
  compare(history: readonly Bar[], nowMs: number): Difference {
    const found = { missed: 0, differing: 0 }
    const times = new Set<number>()
    this.#endGaps(history.at(-1)?.time)
    for (const bar of history) {
      times.add(bar.time)
      if (this.#from === undefined || bar.time <= this.#from) continue
      const entry = this.#entries.get(bar.time)
      if (entry?.state === 'pushed') found.differing += this.#differs(entry, !isSame(entry.bar, bar))
      else found.missed += this.#misses(bar.time, entry, nowMs)
    }
    const [first] = history
    for (const [time, entry] of this.#entries)
      if (first && time > first.time && !times.has(time))
        found.differing += this.#vanished(time, entry, nowMs)
    this.#evict()
    return found
  }

  #endGaps(newest = Number.POSITIVE_INFINITY): void {
    this.#gaps = this.#gaps.map(({ after, until }) => ({
      after,
      until: until === Number.POSITIVE_INFINITY ? newest : until,
    }))
  }

  #differs(entry: Entry & { readonly state: 'pushed' }, differs: boolean): number {
    if (!differs || entry.differs) return 0
    this.#entries.set(entry.bar.time, { ...entry, differs })
    return 1
  }

  #misses(time: number, entry: Entry | undefined, nowMs: number): number {
    if (entry?.state === 'missed') return 0
    if (this.#gaps.some(({ after, until }) => time > after && time <= until)) return 0
    const liveMs = this.#liveMs(nowMs)
    const sinceMs = entry?.state === 'awaited' ? entry.sinceMs : liveMs
    const isLate = liveMs - sinceMs >= this.#settleMs
    this.#entries.set(time, isLate ? { state: 'missed' } : { state: 'awaited', sinceMs })
    return Number(isLate)
  }

  /** Handles a remembered bar that history does not have. */
  #vanished(time: number, entry: Entry, nowMs: number): number {
    if (entry.state !== 'pushed') this.#entries.delete(time)
    return entry.state === 'pushed' && nowMs - entry.atMs >= this.#settleMs ? this.#differs(entry, true) : 0
  }

  #evict(): void {
    const surplus = this.#entries.size - rememberedMax
    if (surplus <= 0) return
    const oldest = [...this.#entries.keys()].toSorted((a, b) => a - b).slice(0, surplus)
    for (const time of oldest) this.#entries.delete(time)
    const from = oldest.at(-1) ?? 0
    this.#from = Math.max(this.#from ?? 0, from)
    this.#gaps = this.#gaps.filter(({ until }) => until > from)
  }
}

/** Opening time of the newest bar that may be closed by now. */
const newestClosed = (feedNow = Number.POSITIVE_INFINITY): number =>
  Math.floor((feedNow + clockSlackSeconds) / barSeconds) * barSeconds - barSeconds
