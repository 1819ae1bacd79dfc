import type { Range, Resolution } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { nextOpen } from '../chart/resolutions.ts'

const minute = 60

export interface FeedCoverage {
  readonly resolution: Resolution
  /** By symbol of the feed. A range ends with the last minute of its last bar. */
  readonly ranges: Readonly<Record<string, readonly Range[]>>
}

/** Where a feed has minutes; where it has bars of its finest resolution, if it has no minutes. */
export async function feedCoverage({ fxd, rest }: App, feed: string): Promise<FeedCoverage> {
  const read = async (resolution: Resolution): Promise<FeedCoverage> => {
    const { coverage } = await rest.get<{ readonly coverage: FeedCoverage['ranges'] }>('coverage', {
      resolution,
    })
    const own = Object.entries(coverage)
      .filter(([symbol]) => symbol.startsWith(`${feed}:`))
      .map(([symbol, ranges]) => [symbol, ranges.map((range) => wholeBars(range, resolution))] as const)
    return { resolution, ranges: Object.fromEntries(own) }
  }
  const minutes = await read('1')
  const [first, ...others] = Object.entries(minutes.ranges)
  if (!first || [first, ...others].some(([, ranges]) => ranges.length > 0)) return minutes
  const { supported_resolutions: supported } = await fxd.symbol(first[0])
  const [finest = '1'] = supported
  return finest === '1' ? minutes : await read(finest)
}

const wholeBars = ({ from, to }: Range, resolution: Resolution): Range => ({
  from,
  to: nextOpen(resolution, to) - minute,
})
