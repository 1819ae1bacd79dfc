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

/** The first and last minutes of what is missing in a day. */
export function missingMinutes(ranges: readonly Range[], begin: number): Range[] {
  const missing: Range[] = []
  let next = begin
  const until = (end: number): void => {
    if (end > next) missing.push({ from: next, to: end - minute })
  }
  for (const { from, to } of ranges) {
    if (to < begin || from >= begin + day) continue
    until(from)
    next = Math.max(next, to + minute)
  }
  until(begin + day)
  return missing
}

export type CellState = 'full' | 'part' | 'none'

const stateOf = (answered: number): CellState =>
  answered >= minutesOfDay ? 'full' : answered > 0 ? 'part' : 'none'

export interface Run {
  readonly state: CellState
  /** Index of the first day, and number of days. */
  readonly at: number
  readonly length: number
}

/** Days beside each other with the same state are drawn as one. */
export function runsOf(answered: readonly number[]): Run[] {
  const runs: { state: CellState; at: number; length: number }[] = []
  answered.forEach((count, at) => {
    const state = stateOf(count)
    const last = runs.at(-1)
    if (last?.state === state) last.length += 1
    else runs.push({ state, at, length: 1 })
  })
  return runs
}
