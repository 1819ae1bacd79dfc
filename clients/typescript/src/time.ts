import { invalid } from './error.ts'
import type { Time } from './types.ts'

export const minute = 60
/** The year 5138. A later time is in milliseconds. */
const secondsMax = 1e11

/** Epoch seconds on the clock of a feed. Throws `INVALID_PARAMS` for anything else than whole seconds or a date. */
export function seconds(name: string, time: Time): number {
  const value = time instanceof Date ? Math.floor(time.getTime() / 1_000) : time
  if (value > secondsMax) throw invalid(name, `${value} in milliseconds; pass new Date() or seconds`)
  if (Number.isInteger(value) && value >= 0) return value
  throw invalid(name, `${String(time)}, wanted a Date or whole epoch seconds`)
}

/** The real time of a bar in epoch seconds, UTC, by the `clock_offset_seconds` of its feed in `status()`. */
export const toUtc = (time: number, clockOffsetSeconds: number): number => time + clockOffsetSeconds
