import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Frames } from '../fan-out/frame.ts'
import { textFrame } from '../fan-out/frame.ts'
import { messages } from './protocol.ts'

/** Maximum symbols named in one frame of an answer about whole feeds. */
const namesPerFrameMax = 5_000

interface Named {
  readonly symbols: readonly string[]
  readonly rejected: readonly string[]
  readonly since?: ReadonlyMap<string, FeedSeconds> | undefined
  readonly rejectedFeeds?: readonly string[]
  readonly reason?: 'joined'
}

/** What became of the symbols of whole feeds, in as many frames as needed; the last one says so. */
export function subscribedFrames({ symbols, rejected, since, rejectedFeeds, reason }: Named): Frames {
  return inParts(symbols.length + rejected.length, (from, to, isLast) => {
    const before = symbols.length
    const no = rejected.slice(Math.max(0, from - before), Math.max(0, to - before))
    return messages.subscribed(symbols.slice(from, to), no, isLast ? since : undefined, {
      rejected_feeds: isLast ? rejectedFeeds : undefined,
      reason,
      last: isLast || undefined,
    })
  })
}

export const unsubscribedFrames = (symbols: readonly string[]): Frames =>
  inParts(symbols.length, (from, to, isLast) =>
    messages.unsubscribed(symbols.slice(from, to), undefined, isLast || undefined),
  )

/** At least one part, even without names. */
function inParts(names: number, part: (from: number, to: number, isLast: boolean) => string): Frames {
  let frames = ''
  let from = 0
  do {
    const to = from + namesPerFrameMax
    frames += textFrame(part(from, to, to >= names))
    from = to
  } while (from < names)
  return frames
}
