import { daySeconds } from '../clocks/calendar.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../feeds/resolution.ts'
import { type Bars, barCount } from './bar.ts'
import type { Span } from './window.ts'

interface Cluster {
  first: number
  last: number
}

/** Maximum distance of neighbours in one window: longer than a weekend with a holiday. */
export const defaultMaxGapSeconds = (r: Resolution): number =>
  (r === '1D' || r === '1W' || r === '1M' ? 12 : 4) * daySeconds

/**
 * The windows that a file covers: runs of bars whose neighbours are at most `maxGapSeconds` apart. Bars come in
 * pieces, each ascending, the pieces in any order. Memory grows with the number of gaps, not of bars.
 */
export class BarClusters {
  readonly #resolution: Resolution
  readonly #maxGapSeconds: number
  #clusters: Cluster[] = []

  constructor(resolution: Resolution, maxGapSeconds: number) {
    this.#resolution = resolution
    this.#maxGapSeconds = Math.max(maxGapSeconds, longestBarSeconds[resolution] ?? 0)
  }

  add(bars: Bars): void {
    const clusters = this.#clusters
    let open: Cluster | undefined
    for (let i = 0; i < barCount(bars); i++) {
      const time = bars.time[i] as number
      if (open && time - open.last <= this.#maxGapSeconds) open.last = time
      else clusters.push((open = { first: time, last: time }))
    }
    this.#clusters = this.#join(clusters)
  }

  #join(clusters: Cluster[]): Cluster[] {
    const joined: Cluster[] = []
    for (const each of clusters.sort((a, b) => a.first - b.first)) {
      const last = joined.at(-1)
      if (last && each.first - last.last <= this.#maxGapSeconds) last.last = Math.max(last.last, each.last)
      else joined.push(each)
    }
    return joined
  }

  /** Half-open windows, ascending, each from the open of its first bar to the end of its last. */
  spans(): Span[] {
    return this.#clusters.map(({ first, last }) => ({
      from: feedSeconds(first),
      to: barEnd(feedSeconds(last), this.#resolution),
    }))
  }
}

/** Monthly bars open up to 31 days apart, so 31 days between two bars are not a gap. */
const longestBarSeconds: Readonly<Partial<Record<Resolution, number>>> = { '1M': 31 * daySeconds }
