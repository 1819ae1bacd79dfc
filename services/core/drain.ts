import { minuteMs } from './clocks/calendar.ts'
import type { UtcMs } from './clocks/feed-clock.ts'

/**
 * Bars close at the end of the minute and are pushed just after it; a socket that is closed then misses them.
 * From second 55 to second 8 of the next minute, the guard, a drain closes no socket.
 */
const guardFromMs = 55_000
const guardToMs = 8_000
const openSpanMs = guardFromMs - guardToMs

/** Timers are late: closes before a guard, or before the end, happen this much earlier. */
const marginMs = 250
/** Minimum time between two closes; where more are needed, several sockets are closed at once. */
const stepMinMs = 20

/**
 * How long a load balancer may need to see that a shard is not ready. No socket is closed in this time, or its
 * client would connect to this shard again. New sockets are accepted and closed with the others; later ones are
 * rejected.
 */
export const noticeMs = 5_000

export interface Drain {
  readonly open: number
  readonly utc: UtcMs
  readonly leftMs: number
}

export interface DrainStep {
  /** Wait this long, then close `count` sockets, unless the guard has begun by then. */
  readonly waitMs: number
  readonly count: number
}

const inMinute = (utc: number): number => ((utc % minuteMs) + minuteMs) % minuteMs

export function isGuarded(utc: UtcMs): boolean {
  const at = inMinute(utc)
  return at >= guardFromMs || at < guardToMs
}

/** Milliseconds outside of guards since a fixed start; grows with `utc`. */
const openMsUntil = (utc: number): number =>
  Math.floor(utc / minuteMs) * openSpanMs + Math.min(openSpanMs, Math.max(0, inMinute(utc) - guardToMs))

/** Milliseconds until `openMs` have passed outside of guards. */
function waitFor(utc: number, openMs: number): number {
  const goal = openMsUntil(utc) + openMs
  const minutes = Math.ceil(goal / openSpanMs) - 1
  return minutes * minuteMs + guardToMs + (goal - minutes * openSpanMs) - utc
}

/** The next closes, spread evenly, outside of guards if any time is. Sockets open at the end are closed at once. */
export function nextCloses({ open, utc, leftMs }: Drain): DrainStep {
  if (leftMs <= 0) return { waitMs: 0, count: open }
  const openMs = openMsUntil(utc + leftMs) - openMsUntil(utc)
  if (openMs <= 0) return { waitMs: leftMs, count: open }
  if (openMs <= marginMs) return { waitMs: isGuarded(utc) ? waitFor(utc, 1) : 0, count: open }
  const spacing = openMs / (open + 1)
  const count = Math.max(1, Math.floor(stepMinMs / spacing))
  return { waitMs: waitFor(utc, Math.min(count * spacing, openMs - marginMs)), count: Math.min(open, count) }
}
