import type { UtcMs } from './clocks/feed-clock.ts'

/**
 * Bars close at the minute's edge and are pushed behind it: who is closed just then misses them. From
 * second 55 to second 8 of the next minute no drain closes a socket.
 */
const minuteMs = 60_000
const guardFromMs = 55_000
const guardToMs = 8_000
const openSpanMs = guardFromMs - guardToMs

/** Timers come late: what must go before the guard, or the end, goes this much earlier. */
const marginMs = 250
/** Closes are counted off at most so often; more than one then goes at once. */
const stepMinMs = 20

/**
 * A load balancer needs a moment to see that a shard is not ready. Nobody is closed in that time, or they
 * would come back to this shard; who still comes is let in and closed with the others, later ones are refused.
 */
export const noticeMs = 5_000

export interface Drain {
  /** Sockets still open. */
  readonly open: number
  readonly utc: UtcMs
  /** What is left of the time that the drain may take. */
  readonly leftMs: number
}

export interface DrainStep {
  /** Look again after so long, and close `count` then, unless the guard has begun meanwhile. */
  readonly waitMs: number
  readonly count: number
}

const inMinute = (utc: number): number => ((utc % minuteMs) + minuteMs) % minuteMs

/** Whether no socket should be closed at this time. */
export function isGuarded(utc: UtcMs): boolean {
  const at = inMinute(utc)
  return at >= guardFromMs || at < guardToMs
}

/** Milliseconds outside of guards since some start; grows with `utc`. */
const openMsUntil = (utc: number): number =>
  Math.floor(utc / minuteMs) * openSpanMs + Math.min(openSpanMs, Math.max(0, inMinute(utc) - guardToMs))

/** How far it is to the moment that lies so many milliseconds outside of guards ahead. */
function waitFor(utc: number, openMs: number): number {
  const goal = openMsUntil(utc) + openMs
  const minutes = Math.ceil(goal / openSpanMs) - 1
  return minutes * minuteMs + guardToMs + (goal - minutes * openSpanMs) - utc
}

/**
 * The next closes of a drain: spread evenly over what is left of it, none in a guard, as long as some
 * of it lies outside of guards. What is still open when the time is over goes at once.
 */
export function nextCloses({ open, utc, leftMs }: Drain): DrainStep {
  if (leftMs <= 0) return { waitMs: 0, count: open }
  const openMs = openMsUntil(utc + leftMs) - openMsUntil(utc)
  if (openMs <= 0) return { waitMs: leftMs, count: open }
  if (openMs <= marginMs) return { waitMs: isGuarded(utc) ? waitFor(utc, 1) : 0, count: open }
  const spacing = openMs / (open + 1)
  const count = Math.max(1, Math.floor(stepMinMs / spacing))
  return { waitMs: waitFor(utc, Math.min(count * spacing, openMs - marginMs)), count: Math.min(open, count) }
}
