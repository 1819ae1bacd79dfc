import type { Range, Resolution } from '../../../clients/typescript/src/types.ts'
import { nextOpen, openOf, secondsOf } from './resolutions.ts'

const minute = 60
/** A longer gap is drawn as wide as this many bars. */
const blanksMax = 40

/** The first and the last minute between two ranges of coverage: no terminal answered for them. */
export const gapsBetween = (ranges: readonly Range[]): Range[] =>
  ranges.slice(1).flatMap(({ from: next }, i) => {
    const gap = { from: (ranges[i]?.to ?? next) + minute, to: next - minute }
    return gap.from <= gap.to ? [gap] : []
  })

export interface Shading {
  /** Times without a bar that give a gap its width. */
  readonly blanks: readonly number[]
  /** Open times of the first and the last bar of a gap. */
  readonly bands: readonly Range[]
}

/** How gaps are drawn among bars that open at `times`. */
export function shade(resolution: Resolution, times: readonly number[], gaps: readonly Range[]): Shading {
  const [first, last] = [times[0], times.at(-1)]
  if (first === undefined || last === undefined) return { blanks: [], bands: [] }
  const taken = new Set(times)
  const blanks: number[] = []
  const bands: Range[] = []
  for (const { from, to } of gaps) {
    if (to < first || from > last) continue
    const band = {
      from: openOf(resolution, Math.max(from, first), first),
      to: openOf(resolution, Math.min(to, last), first),
    }
    bands.push(band)
    const count = Math.floor((band.to - band.from) / secondsOf(resolution)) + 1
    const every = Math.ceil(count / blanksMax)
    for (let time = band.from, i = 0; time <= band.to; time = nextOpen(resolution, time), i++)
      if (!taken.has(time) && (i % every === 0 || nextOpen(resolution, time) > band.to)) blanks.push(time)
  }
  return { blanks, bands }
}
