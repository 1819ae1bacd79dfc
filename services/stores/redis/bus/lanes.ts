import type { FeedKey } from '../../../core/feeds/compound-key.ts'

/** A feed's events, or the registry's: a feed's key holds a colon. */
export type Lane = string
const registryLane: Lane = 'registry'

export const laneOf = (feed: FeedKey | undefined): Lane => feed ?? registryLane
export const feedOfLane = (lane: Lane): FeedKey | undefined =>
  lane === registryLane ? undefined : (lane as FeedKey)

/** Where a lane is on the bus. */
export interface LaneTop {
  readonly lane: Lane
  /** Before its first event. */
  readonly start: number
  readonly top: number
  /** Whether there is an event after the one read last. */
  readonly more: boolean
}

/** From the answer of `lua/look.lua`. */
export const laneTops = (reply: unknown): readonly LaneTop[] =>
  (reply as [string, string, string, number][]).map(([lane, start, top, more]) => ({
    lane,
    start: Number(start),
    top: Number(top),
    more: more === 1,
  }))
