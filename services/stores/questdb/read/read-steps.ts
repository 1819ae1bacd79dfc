import { partitionUnit } from '../../../core/bars/partitions.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { shortestSeconds } from '../layout/statements.ts'

/**
 * Maximum partitions of one statement, apart from those after the present. The server maps 11 files of each while
 * the statement runs. Otherwise a few reads of a scattered series could reach its limit of memory maps.
 */
const partitionsPerStatement = 128

/** Times of bars, both ends included. */
interface Range {
  from: number
  to: number
}

/**
 * The ranges of the statements of one read, in the order of reading. A range reaches beyond the present, where few
 * bars are: a time in the far future must not cost hundreds of statements.
 */
export function* readSteps(
  { from, to }: Range,
  resolution: Resolution,
  end: 'newest' | 'oldest' | undefined,
  now: number,
): Generator<Range> {
  const seconds = partitionsPerStatement * shortestSeconds[partitionUnit(resolution)]
  if (end === 'newest') {
    let first = Math.min(to, now)
    for (let last = to; last >= from; last = first - 1) {
      first = Math.max(from, first - seconds)
      yield { from: first, to: last }
    }
    return
  }
  let last = from
  for (let first = from; first <= to; first = last + 1) {
    last = last + seconds < Math.min(to, now) ? last + seconds : to
    yield { from: first, to: last }
  }
}
