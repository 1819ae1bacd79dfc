import type { Resolution } from '../feeds/resolution.ts'
import { type Bars, barCount, countUntil } from './bar.ts'

/**
 * QuestDB keeps the bars of a table in one folder per partition. A query maps 11 files of each partition that it
 * touches. The server ends when the machine allows no more maps.
 */
export type PartitionUnit = 'WEEK' | 'MONTH' | 'YEAR'

/** The unit that a late row rewrites and that retention deletes: neither too large nor too many. */
export const partitionUnit = (resolution: Resolution): PartitionUnit => {
  if (resolution === '1') return 'WEEK'
  return resolution === '5' || resolution === '10' || resolution === '15' ? 'MONTH' : 'YEAR'
}

/** Maximum partitions that the bars of one message touch, over all its series; see `partitionsOf`. */
export const messagePartitionsMax = 32

const weekSeconds = 7 * 86_400
/** 1970-01-05: weeks begin on Mondays. */
const firstMonday = 4 * 86_400

/** The first second after the partition of this time. */
export function partitionEnd(time: number, resolution: Resolution): number {
  const unit = partitionUnit(resolution)
  if (unit === 'WEEK') return (Math.floor((time - firstMonday) / weekSeconds) + 1) * weekSeconds + firstMonday
  const date = new Date(time * 1_000)
  const year = date.getUTCFullYear()
  return (unit === 'MONTH' ? Date.UTC(year, date.getUTCMonth() + 1) : Date.UTC(year + 1, 0)) / 1_000
}

/** Number of the bars from `start` on that touch at most `max` partitions. The bars ascend. */
export function countWithinPartitions(
  bars: Bars,
  resolution: Resolution,
  start: number,
  max: number,
): number {
  let end = start
  for (let n = 0; n < max && end < barCount(bars); n++) {
    end = countUntil(bars, partitionEnd(bars.time[end] as number, resolution) - 1, end)
  }
  return end - start
}

/**
 * The partitions that these bars touch: the end of each, by its id. The tables of one resolution count as one: a
 * collector does not know them. The bars of each series ascend.
 */
export function partitionsOf(
  batch: Iterable<{ readonly resolution: Resolution; readonly bars: Bars }>,
): ReadonlyMap<string, number> {
  const ends = new Map<string, number>()
  for (const { bars, resolution } of batch) {
    for (let i = 0; i < barCount(bars); ) {
      const end = partitionEnd(bars.time[i] as number, resolution)
      ends.set(`${resolution} ${end}`, end)
      i = countUntil(bars, end - 1, i)
    }
  }
  return ends
}
