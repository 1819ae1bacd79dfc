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
  /** A committed write added or changed bars that readers may have read before (revision, backfill, import). */
  | {
      readonly type: 'revised'
      readonly series: Series
      readonly from: FeedSeconds
      readonly to: FeedSeconds
    }
  /** The store now returns the live minutes of the feed up to this bus position. */
  | { readonly type: 'applied'; readonly feed: FeedKey; readonly position: number }
  /** The same for the live bars of another resolution. */
  | {
      readonly type: 'tableApplied'
      readonly feed: FeedKey
      readonly resolution: Resolution
      readonly position: number
    }
  /**
   * The store now returns all live minutes of the feed that came before this event. Exception: bars of an ingest that was
   * killed before it stored them. Their collector sends them again.
   */
  | { readonly type: 'settled'; readonly feed: FeedKey }
  /** The terminal answered for these minutes (open times, both inclusive): their bars came before this event. */
  | { readonly type: 'minutes'; readonly feed: FeedKey; readonly from: FeedSeconds; readonly to: FeedSeconds }
  | { readonly type: 'registry'; readonly version: number }

export interface Delivered {
  /** Grows by one per event of the feed, and is never reset. Events of the registry have separate numbers. */
  readonly position: number
  readonly event: BusEvent
}

export interface Follower {
  /** `registry`: this follower gets registry events only, so its process need not read other events. */
  readonly wants?: 'registry'
  /** Applies one event. A returned promise resolves when the work for it is done, and never rejects. */
  deliver(delivered: Delivered): void | Promise<void>
  /**
   * Events of the feed up to this position may be lost. Reasons: the bus restarted, lost its newest events, or
   * kept fewer than this follower is behind; the publisher dropped events; or a new process publishes, and its
   * predecessor may have ended between a commit and its event. Later events follow this call.
   */
  lost(feed: FeedKey, upTo: number): void
}

/**
 * Events from ingest to all readers. Contract (test/contract/suites/bus.ts):
 *  - every follower gets every event published after it began to follow, once, and the events of one feed in
 *    order. A loss is reported to it within 3 s, without waiting for the next event;
 *  - delivery happens in a later turn of the event loop, never inside `publish`;
 *  - a publisher with an epoch smaller than one already seen for the feed is rejected (`fenced`). Exceptions:
 *    `revised` (whose bars are ordered by their revisions) and `registry` (ordered by its version).
 */
export interface Bus {
  /**
   * `afterLoss`: the publisher dropped events before this one, and every follower is told of a loss. A bus that never
   * rejects an event need not know it.
   */
  publish(
    event: BusEvent,
    epoch: number,
    options?: { readonly afterLoss?: boolean },
  ): Promise<{ readonly outcome: 'published'; readonly position: number } | { readonly outcome: 'fenced' }>
  follow(follower: Follower): () => void
  /** Resolves when the followers have done their work for all delivered events. Absent: they are in other processes. */
  handled?(): Promise<void>
}

/** The feed whose newest publisher alone may publish the event; `undefined`: any publisher may. */
export function fencedFeed(event: BusEvent): FeedKey | undefined {
  return event.type === 'registry' || event.type === 'revised' ? undefined : event.feed
}

/** The feed whose positions number the event; `undefined`: the positions of the registry number it. */
export function feedOfEvent(event: BusEvent): FeedKey | undefined {
  if (event.type === 'registry') return undefined
  return event.type === 'revised' ? event.series.feed : event.feed
}
