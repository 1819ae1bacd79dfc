import { seriesId } from '../../core/bars/series.ts'
import type { Window } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Depth, FeedDefinition } from '../../core/feeds/feed.ts'
import { type Resolution, storedResolutions } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'

/** `none`: no bar is stored. `reading`: some are, but not all history is acknowledged. `done`: the source was read once. */
export type FirstRead = 'reading' | 'none' | 'done'

export interface FirstReadFacts {
  /** The earliest start of the acknowledged windows of a series, by `seriesId`. */
  readonly startOf: (id: string) => number | undefined
  /** Newest stored bar time by `seriesId`. */
  readonly newest: ReadonlyMap<string, FeedSeconds>
  /** How far back the source is read in parts; `undefined` if it is read whole. */
  readonly depth: Partial<Record<Resolution, Depth>> | undefined
  /** "Now" on the feed's clock; `undefined` while it is unknown. */
  readonly feedNow: number | undefined
}

/** Simulators and terminals are read in parts back to their depth. Files are read whole, and a pushing client decides itself. */
export const depthInParts = ({ source, depth }: FeedDefinition): FirstReadFacts['depth'] =>
  source.type === 'Simulator' || source.type === 'Terminal' ? depth : undefined

/** Maximum history that may be missing at the start: the smallest unit of history is a day of minutes. */
const toleranceSeconds = 86_400

export function startsOf(windows: readonly Window[]): FirstReadFacts['startOf'] {
  const starts = new Map<string, number>()
  for (const { symbol, resolution, from } of windows) {
    if (symbol === undefined) continue
    const id = seriesId({ symbol, resolution })
    starts.set(id, Math.min(from, starts.get(id) ?? from))
  }
  return (id) => starts.get(id)
}

/** Returns the function that decides for one symbol of the feed. */
export function firstReads({ startOf, newest, depth, feedNow }: FirstReadFacts) {
  const isOpen = (id: string, r: Resolution): boolean => {
    const start = startOf(id)
    if (start === undefined) return true
    const wanted = depth?.[r]
    if (wanted === undefined || feedNow === undefined) return false
    const end = 'since' in wanted ? wanted.since : feedNow - wanted.seconds
    return start > end + toleranceSeconds
  }
  return ({ symbol }: Pick<SymbolRecord, 'symbol'>): FirstRead => {
    const stored = storedResolutions.filter((resolution) => newest.has(seriesId({ symbol, resolution })))
    if (stored.length === 0) return 'none'
    const isReading = stored.some((resolution) => isOpen(seriesId({ symbol, resolution }), resolution))
    return isReading ? 'reading' : 'done'
  }
}
