import type { FeedKey } from '../../../core/feeds/compound-key.ts'

/** The events of a feed or of the registry: a feed's key contains a colon. */
export type BusStream = string
export const registryStream: BusStream = 'registry'

export const streamOf = (feed: FeedKey | undefined): BusStream => feed ?? registryStream
export const feedOfStream = (stream: BusStream): FeedKey | undefined =>
  stream === registryStream ? undefined : (stream as FeedKey)

export interface StreamTop {
  readonly stream: BusStream
  /** The position before its first event. */
  readonly start: number
  readonly top: number
  /** Whether there is an event after the last position read. */
  readonly more: boolean
}

/** Parses the answer of `lua/look.lua`. */
export const streamTops = (reply: unknown): readonly StreamTop[] =>
  (reply as [string, string, string, number][]).map(([stream, start, top, more]) => ({
    stream,
    start: Number(start),
    top: Number(top),
    more: more === 1,
  }))
