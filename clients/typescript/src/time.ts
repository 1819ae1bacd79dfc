import { FxdError } from './error.ts'
import type { Time } from './types.ts'

export const minute = 60

/** Epoch seconds on the clock of a feed. Throws `INVALID_PARAMS` for anything else than whole seconds or a date. */
export function seconds(name: string, time: Time): number {
  const value = time instanceof Date ? Math.floor(time.getTime() / 1_000) : time
  if (Number.isInteger(value)) return value
  throw new FxdError('INVALID_PARAMS', `${name}: got ${String(time)}, wanted whole epoch seconds or a Date`)
}

/** The real time of a bar in epoch seconds, UTC, by the `clock_offset_seconds` of its feed in `status()`. */
export const toUtc = (time: number, clockOffsetSeconds: number): number => time + clockOffsetSeconds
