import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { type CleanSeriesId, cleanSeriesId } from '../series/series-id.ts'
import type { Arrival } from './ages.ts'
import { barsIn, recordsIn, type SpoolRecord } from './record.ts'
import type { Place, Segment } from './segments.ts'

export interface Entry extends Arrival {
  readonly kind: SpoolRecord['kind']
  readonly bars: number
  /** Another collector has these bars, so a drop is no loss. */
  isHandedOver: boolean
  /** The encoded batch, until it is on the disk. */
  bytes: Uint8Array | undefined
  place: Place | undefined
}

/** Index of the batches in a spool, in order of arrival; the bars are on the disk. */
export class Entries {
  bars = 0
  readonly #all = new Map<number, Entry>()
  /** Time of the newest live bar per series. */
  readonly #until = new Map<CleanSeriesId, FeedSeconds>()
  #live = 0
  #lastId = 0

  add(record: SpoolRecord, at: Pick<Entry, 'bytes' | 'place' | 'sinceMs'>): number {
    const { kind, utcMs, series } = record
    const bars = barsIn(record)
    this.#lastId += 1
    this.#all.set(this.#lastId, { kind, utcMs, bars, isHandedOver: false, ...at })
    this.bars += bars
    if (kind === 'live') {
      this.#live += 1
      for (const each of series) {
        const id = cleanSeriesId(each)
        this.#until.set(id, feedSeconds(Math.max(each.last, this.#until.get(id) ?? each.last)))
      }
    }
    return this.#lastId
  }

  remove(id: number): Entry | undefined {
    const entry = this.#all.get(id)
    if (!entry) return undefined
    this.#all.delete(id)
    if (entry.place) entry.place.segment.records -= 1
    this.bars -= entry.bars
    if (entry.kind === 'live' && --this.#live === 0) this.#until.clear()
    return entry
  }

  /** Removes a batch that could not be written. `until` forgets its series, so the next session reads these bars. */
  reject(id: number): void {
    const { bytes } = this.remove(id) ?? {}
    const [first] = bytes ? recordsIn(bytes) : []
    for (const series of first?.record.series ?? []) this.#until.delete(cleanSeriesId(series))
  }

  markHandedOver(): void {
    for (const entry of this.#all.values()) entry.isHandedOver = true
  }

  get batches(): number {
    return this.#all.size
  }

  get(id: number): Entry | undefined {
    return this.#all.get(id)
  }

  ids(kind?: Entry['kind']): readonly number[] {
    return [...this.#all.keys()].filter((id) => kind === undefined || this.#all.get(id)?.kind === kind)
  }

  in(segment: Segment): readonly number[] {
    return this.ids().filter((id) => this.#all.get(id)?.place?.segment === segment)
  }

  /** Returns the oldest batches, up to the first that has not expired. */
  expired(isExpired: (came: Arrival) => boolean): readonly number[] {
    const old: number[] = []
    for (const [id, entry] of this.#all) {
      if (!entry.place || !isExpired(entry)) break
      old.push(id)
    }
    return old
  }

  /** The oldest batch that no other collector has. */
  get oldest(): Entry | undefined {
    for (const entry of this.#all.values()) if (!entry.isHandedOver) return entry
    return undefined
  }

  until(symbol: string, resolution: Resolution): FeedSeconds | undefined {
    return this.#until.get(cleanSeriesId({ symbol, resolution }))
  }
}
