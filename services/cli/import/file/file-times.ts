import { closeToleranceSeconds, hasEnded } from '../../../core/bars/closed.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'

/** Times of a file on the feed's clock; `undefined` while that clock is unknown. */
export interface FileTimes {
  /** When the file was changed last, by its file system. */
  readonly writtenAt: FeedSeconds | undefined
  /** Before its first byte was read. */
  readonly readAt: FeedSeconds | undefined
}

/** Whether a bar was over when its file was written and read. Until then a terminal writes the bar so far. */
export function isWhole(
  open: FeedSeconds,
  resolution: Resolution,
  { writtenAt, readAt, delaySeconds }: FileTimes & { readonly delaySeconds: number },
): boolean {
  if (!hasEnded(open, resolution, { now: readAt, delaySeconds })) return false
  // A time of change before the bar comes from a copy or an archive, and proves nothing. Clocks differ a little.
  if (writtenAt === undefined || writtenAt < open - closeToleranceSeconds) return true
  return hasEnded(open, resolution, { now: writtenAt, delaySeconds })
}
