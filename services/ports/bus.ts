import type { RevisedBar } from '../core/bars/bar.ts'
import type { Series } from '../core/bars/series.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../core/feeds/compound-key.ts'
import type { Resolution } from '../core/feeds/resolution.ts'

export interface LiveBar {
  readonly symbol: CompoundKey
  readonly resolution: Resolution
  readonly bar: RevisedBar
}

export type BusEvent =
  /** Closed bars of the live lane, validated; `pushed` bars of one series ascend strictly in time. */
  | { readonly type: 'bars'; readonly feed: FeedKey; readonly bars: readonly LiveBar[] }
  /** A committed write changed or added bars that readers may have given otherwise (revision, backfill, import). */
  | {
      readonly type: 'revised'
      readonly series: Series
      readonly from: FeedSeconds
      readonly to: FeedSeconds
    }
  /** From here on the store shows the live bars of the feed up to this bus position. */
  | { readonly type: 'applied'; readonly feed: FeedKey; readonly position: number }
  /** From here on the store shows all live bars of the feed that came before this event. */
  | { readonly type: 'settled'; readonly feed: FeedKey }
  /** The terminal answered for these minutes (open times, both inclusive): their bars came before this event. */
  | { readonly type: 'minutes'; readonly feed: FeedKey; readonly from: FeedSeconds; readonly to: FeedSeconds }
  /** The registry moved on to this version. */
  | { readonly type: 'registry'; readonly version: number }

export interface Delivered {
  /** Grows by one per event of the feed; events of the registry have their own numbers. Never starts again. */
  readonly position: number
  readonly event: BusEvent
}

export interface Follower {
  deliver(delivered: Delivered): void
  /**
   * Events of the feed up to this position may never come: the bus had another life, lost its newest
   * ones, kept less than this follower is behind, or another process publishes now, whose predecessor
   * may have died between a commit and its event. What comes next follows after it.
   */
  lost(feed: FeedKey, upTo: number): void
}

/**
 * What ingest tells all readers. Contract (test/contract/suites/bus.ts):
 *  - every follower gets every event published after it began, each feed's in the order of publishing,
 *    once, or is told what it lost (within 3 s, without waiting for the next event);
 *  - delivery is a later turn of the loop, never inside `publish`;
 *  - a publisher with a smaller epoch than one already seen for the feed is refused (`fenced`), but for
 *    `revised` (whose bars are ordered by their revisions) and `registry` (by its version).
 */
export interface Bus {
  publish(
    event: BusEvent,
    epoch: number,
  ): Promise<{ readonly outcome: 'published'; readonly position: number } | { readonly outcome: 'fenced' }>
  follow(follower: Follower): () => void
}

/** The feed whose publisher must be the newest one; `undefined`: anyone may say this. */
export function fencedFeed(event: BusEvent): FeedKey | undefined {
  return event.type === 'registry' || event.type === 'revised' ? undefined : event.feed
}

/** The feed whose positions count the event; `undefined`: the registry's. */
export function feedOfEvent(event: BusEvent): FeedKey | undefined {
  if (event.type === 'registry') return undefined
  return event.type === 'revised' ? event.series.feed : event.feed
}
