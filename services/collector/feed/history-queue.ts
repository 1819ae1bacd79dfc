import type { Span } from '../../core/bars/window.ts'
import { daySeconds } from '../../core/clocks/calendar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'

/** Days of history in one read of a terminal: about 1,500 bars. */
const unitDays: Readonly<Record<Resolution, number>> = {
  '1': 1,
  '5': 5,
  '10': 10,
  '15': 15,
  '30': 30,
  '60': 60,
  '120': 120,
  '240': 240,
  '1D': 1_500,
  '1W': 7_500,
  '1M': 30_000,
}

/** Delay of units that span months: the newest days of finer bars are read first, because charts show them first. */
const longUnitDelayDays = 6

const readDayOf = (resolution: Resolution, newest: Span): number =>
  Math.floor((newest.to - 1) / daySeconds) - Math.min(unitDays[resolution] - 1, longUnitDelayDays)

export interface HistoryUnit<T> {
  readonly item: T
  readonly span: Span
}

interface Entry<T> {
  readonly item: T
  readonly unitSeconds: number
  /** Spans still to be read, ascending. */
  readonly spans: Span[]
}

/** History still to be read, newest day first over all series. Entries of one day keep the order in which they were added. */
export class HistoryQueue<T extends { readonly resolution: Resolution }> {
  readonly #days = new Map<number, Entry<T>[]>()
  #newestDay = Number.NEGATIVE_INFINITY
  #oldestDay = Number.POSITIVE_INFINITY

  /** `missing` ascends and does not overlap. */
  add(item: T, missing: readonly Span[]): void {
    this.#put({ item, unitSeconds: unitDays[item.resolution] * daySeconds, spans: [...missing] })
  }

  next(): HistoryUnit<T> | undefined {
    while (this.#newestDay >= this.#oldestDay) {
      const entry = this.#days.get(this.#newestDay)?.shift()
      if (entry) return this.#take(entry)
      this.#days.delete(this.#newestDay)
      this.#newestDay -= 1
    }
    this.#newestDay = Number.NEGATIVE_INFINITY
    this.#oldestDay = Number.POSITIVE_INFINITY
    return undefined
  }

  #take(entry: Entry<T>): HistoryUnit<T> | undefined {
    const newest = entry.spans.pop()
    if (!newest) return undefined
    const from = Math.max(newest.from, Math.floor((newest.to - 1) / entry.unitSeconds) * entry.unitSeconds)
    if (from > newest.from) entry.spans.push({ from: newest.from, to: feedSeconds(from) })
    this.#put(entry)
    return { item: entry.item, span: { from: feedSeconds(from), to: newest.to } }
  }

  #put(entry: Entry<T>): void {
    const newest = entry.spans.at(-1)
    if (!newest) return
    const day = readDayOf(entry.item.resolution, newest)
    const entries = this.#days.get(day)
    if (entries) entries.push(entry)
    else this.#days.set(day, [entry])
    this.#newestDay = Math.max(this.#newestDay, day)
    this.#oldestDay = Math.min(this.#oldestDay, day)
  }
}
