import type { FeedKey } from '../../../core/feeds/compound-key.ts'

/** The events of a feed or of the registry: a feed's key contains a colon. */
export type Lane = string
export const registryLane: Lane = 'registry'

export const laneOf = (feed: FeedKey | undefined): Lane => feed ?? registryLane
export const feedOfLane = (lane: Lane): FeedKey | undefined =>
  lane === registryLane ? undefined : (lane as FeedKey)

/** The positions of a lane on the bus. */
export interface LaneTop {
  readonly lane: Lane
  /** The position before its first event. */
  readonly start: number
  readonly top: number
  /** Whether there is an event after the last position read. */
  readonly more: boolean
}

/** Parses the answer of `lua/look.lua`. */
export const laneTops = (reply: unknown): readonly LaneTop[] =>
  (reply as [string, string, string, number][]).map(([lane, start, top, more]) => ({
    lane,
    start: Number(start),
    top: Number(top),
    more: more === 1,
  }))
