import { durations } from '../../../clients/typescript/src/history.ts'
import type { Range, Resolution } from '../../../clients/typescript/src/types.ts'
import { indexIn } from './ascending.ts'
import { nextOpen, openOf } from './resolutions.ts'

const minute = 60
/** A longer gap is drawn as wide as this many bars. */
const blanksMax = 40

/** The first and the last minute between two ranges of bars of a resolution: no terminal answered for them. */
export const gapsBetween = (resolution: Resolution, ranges: readonly Range[]): Range[] =>
  ranges.slice(1).flatMap(({ from: next }, i) => {
    const gap = { from: nextOpen(resolution, ranges[i]?.to ?? next), to: next - minute }
    return gap.from <= gap.to ? [gap] : []
  })

interface Shading {
  /** Times without a bar that give a gap its width. */
  readonly blanks: readonly number[]
  /** Open times of the first and the last bar of a gap. */
  readonly bands: readonly Range[]
}

/** How gaps are drawn among bars that open at `times`. */
export function shade(resolution: Resolution, times: readonly number[], gaps: readonly Range[]): Shading {
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return { blanks: [], bands: [] }
  const blanks: number[] = []
  const bands: Range[] = []
  for (const { from, to } of gaps) {
    if (to < first || from > last) continue
    const band = {
      from: openOf(resolution, Math.max(from, first), first),
      to: openOf(resolution, Math.min(to, last), first),
    }
    bands.push(band)
    const count = Math.floor((band.to - band.from) / durations[resolution]) + 1
    for (const time of someOpens(resolution, band, Math.ceil(count / blanksMax)))
      if (indexIn(times, time) === undefined) blanks.push(time)
  }
  return { blanks, bands }
}

/** Each `every`th open time of a band, and its last. */
function someOpens(resolution: Resolution, { from, to }: Range, every: number): number[] {
  const opens: number[] = []
  for (let time = from; time < to; ) {
    opens.push(time)
    if (resolution === '1M') for (let i = 0; i < every; i++) time = nextOpen(resolution, time)
    else time += every * durations[resolution]
  }
  return [...opens, to]
}
