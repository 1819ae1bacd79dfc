import { minute } from './time.ts'
import type { Range } from './types.ts'

/** A longer hole is no outage that ends now: such as years between two imports. */
const holeMax = 86_400

/**
 * Holes of `coverage` after `since` and before `to`, by their first and last minute: history may get these minutes
 * later. Before the first range there is nothing that history could show.
 */
export function missing(coverage: readonly Range[], since: number, to: number): Range[] {
  const next = Math.floor(since / minute) * minute + minute
  const found: Range[] = []
  // Without coverage nothing is known of the time before.
  let before = coverage[0] ? undefined : next - minute
  for (const range of [...coverage, { from: to, to }]) {
    const hole = {
      from: Math.max(next, (before ?? range.from) + minute),
      to: Math.min(range.from, to) - minute,
    }
    if (before !== undefined && range.from - before <= holeMax && hole.from <= hole.to) found.push(hole)
    before = range.to
  }
  return found
}
