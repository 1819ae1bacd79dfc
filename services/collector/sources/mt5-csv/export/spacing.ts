import { durationText } from '../../../../core/clocks/duration.ts'
import { feedSeconds } from '../../../../core/clocks/feed-clock.ts'
import { barEnd, durationSeconds, type Resolution, resolutions } from '../../../../core/feeds/resolution.ts'

/** Bars of a file that are judged: more than the daily bars since 1971 that may precede the minutes of a broker. */
const judgedBarsMax = 100_000
/** Fewer distances that are too short prove nothing. */
const distancesMin = 20
/** Fewer bars of an illiquid symbol may be far apart by chance. */
const barsMin = 30
/** Longer bars begin and end with sessions, so a symbol may have one of two only. */
const longestMultipleSeconds = 3_600

/** The first times of an export, by which its resolution is judged. */
export class SpacingSample {
  readonly #times: number[] = []

  add(times: Iterable<number>): void {
    for (const time of times) {
      if (this.isFull) return
      this.#times.push(time)
    }
  }

  get isFull(): boolean {
    return this.#times.length >= judgedBarsMax
  }

  /** Text that follows the name of the file; `undefined` unless the distances certainly contradict the resolution. */
  fault(resolution: Resolution): string | undefined {
    const opens = [...new Set(this.#times)].sort((a, b) => a - b)
    const distances = opens.slice(1).map((open, i) => open - (opens[i] as number))
    const count = distances.length
    const shorter = distances.filter((_, i) => {
      const end = barEnd(feedSeconds(opens[i] as number), resolution)
      return (opens[i + 1] as number) < end
    })
    if (count >= distancesMin && shorter.length > count / 2) {
      const median = shorter.sort((a, b) => a - b)[shorter.length >> 1] as number
      return `looks like an export of ${nameOf(median)}: ${shorter.length} of ${count} distances between bars are shorter than ${resolution}`
    }
    const duration = resolution === '1M' ? Number.POSITIVE_INFINITY : durationSeconds[resolution]
    if (opens.length < barsMin || duration > longestMultipleSeconds) return undefined
    const unit = distances.reduce(divisor, 0)
    if (unit <= duration) return undefined
    return `looks like an export of ${nameOf(unit)}: all ${count} distances between bars are multiples of ${durationText(unit)}`
  }
}

const fixed = resolutions.filter((r) => r !== '1M')

const monthSeconds = { from: 28 * 86_400, to: 31 * 86_400 }

/** The resolution of bars at this distance, or the distance. */
function nameOf(seconds: number): string {
  if (seconds >= monthSeconds.from && seconds <= monthSeconds.to) return '1M'
  return fixed.find((r) => durationSeconds[r] === seconds) ?? `bars of ${durationText(seconds)}`
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
