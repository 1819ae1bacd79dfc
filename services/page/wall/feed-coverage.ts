import type { Range, Resolution } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { nowSeconds } from '../browser.ts'
import { nextOpen } from '../chart/resolutions.ts'

const minute = 60
/** A view that stays open for hours shows what was answered since. */
const knownSeconds = 60

type Ranges = Readonly<Record<string, readonly Range[]>>

export interface FeedCoverage {
  readonly resolution: Resolution
  /** By symbol of the feed. A range ends with the last minute of its last bar. */
  readonly ranges: Ranges
}

/**
 * Returns a function that tells where a feed has minutes; if it has none, where it has bars of its finest resolution.
 * Each resolution is read once a minute for all feeds.
 */
export function feedCoverages({ fxd }: App): (feed: string) => Promise<FeedCoverage> {
  const known = new Map<Resolution, { readonly ranges: Ranges; readonly until: number }>()
  const read = async (resolution: Resolution): Promise<Ranges> => {
    const before = known.get(resolution)
    if (before && nowSeconds() < before.until) return before.ranges
    const ranges = await fxd.coverage(undefined, { resolution })
    known.set(resolution, { ranges, until: nowSeconds() + knownSeconds })
    return ranges
  }
  return async (feed) => {
    const minutes = ofFeed(await read('1'), feed, '1')
    const [symbol] = Object.keys(minutes.ranges)
    const hasMinutes = Object.values(minutes.ranges).some(({ length }) => length > 0)
    if (hasMinutes || symbol === undefined) return minutes
    const [finest = '1'] = (await fxd.symbol(symbol)).supported_resolutions
    return finest === '1' ? minutes : ofFeed(await read(finest), feed, finest)
  }
}

function ofFeed(coverage: Ranges, feed: string, resolution: Resolution): FeedCoverage {
  const own = Object.entries(coverage)
    .filter(([symbol]) => symbol.startsWith(`${feed}:`))
    .map(([symbol, ranges]) => [
      symbol,
      ranges.map(({ from, to }) => ({ from, to: nextOpen(resolution, to) - minute })),
    ])
  return { resolution, ranges: Object.fromEntries(own) as Ranges }
}
