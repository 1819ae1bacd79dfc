import type { Range } from '../../../clients/typescript/src/types.ts'

const minute = 60
const day = 86_400
export const minutesOfDay = day / minute

export const dayOf = (time: number): number => Math.floor(time / day) * day

/** For each day from `firstDay` on, the number of its minutes that a terminal answered for. Ranges include both ends. */
export function answeredMinutes(ranges: readonly Range[], firstDay: number, days: number): number[] {
  const answered = Array.from({ length: days }, () => 0)
  for (const { from, to } of ranges) {
    const first = Math.max(0, Math.floor((from - firstDay) / day))
    const last = Math.min(days - 1, Math.floor((to - firstDay) / day))
    for (let i = first; i <= last; i++) {
      const begin = firstDay + i * day
      const seconds = Math.min(to + minute, begin + day) - Math.max(from, begin)
      answered[i] = (answered[i] ?? 0) + Math.max(0, Math.ceil(seconds / minute))
    }
  }
  return answered
}

/** The first minute of which nothing is known: the one behind the last answer, or the present one without any answer. */
export function knownUntil(ranges: readonly Range[], now: number): number {
  const last = ranges.at(-1)
  return last ? last.to + minute : Math.floor(now / minute) * minute
}

/** Number of the minutes of a day before `until`. */
export const knownMinutes = (begin: number, until: number): number =>
  Math.max(0, Math.min(minutesOfDay, Math.ceil((until - begin) / minute)))

/** The first and last minutes of what is missing in a day before `known`. */
export function missingMinutes(ranges: readonly Range[], begin: number, known: number): Range[] {
  const missing: Range[] = []
  let next = begin
  const addUntil = (end: number): void => {
    if (end > next) missing.push({ from: next, to: end - minute })
  }
  for (const { from, to } of ranges) {
    if (to < begin || from >= begin + day) continue
    addUntil(from)
    next = Math.max(next, to + minute)
  }
  addUntil(Math.min(begin + day, known))
  return missing
}

/** `open` is a day of which nothing is missing, and which is not known to its end. */
type CellState = 'full' | 'part' | 'none' | 'open'

/** The states of days beside each other. */
export function statesOf(ranges: readonly Range[], firstDay: number, days: number, now: number): CellState[] {
  const until = knownUntil(ranges, now)
  return answeredMinutes(ranges, firstDay, days).map((answered, i) => {
    if (answered >= minutesOfDay) return 'full'
    if (answered >= knownMinutes(firstDay + i * day, until)) return 'open'
    return answered > 0 ? 'part' : 'none'
  })
}

interface Run {
  readonly state: CellState
  /** Index of the first day, and number of days. */
  readonly at: number
  readonly length: number
}

/** Days beside each other with the same state are drawn as one. */
export function runsOf(states: readonly CellState[]): Run[] {
  const runs: { state: CellState; at: number; length: number }[] = []
  states.forEach((state, at) => {
    const last = runs.at(-1)
    if (last?.state === state) last.length += 1
    else runs.push({ state, at, length: 1 })
  })
  return runs
}
