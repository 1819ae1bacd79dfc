import type { RevisedBar } from '../core/bar.ts'
import type { CompoundKey, FeedKey } from '../core/compound-key.ts'
import type { FeedSeconds } from '../core/feed-clock.ts'
import type { Resolution } from '../core/resolution.ts'
import type { Series } from '../core/series.ts'

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
  /** The registry moved on to this version. */
  | { readonly type: 'registry'; readonly version: number }

export interface Delivered {
  /** Grows by one per event; a jump means that something was lost. */
  readonly position: number
  readonly event: BusEvent
}

/**
 * What ingest tells all readers. Contract (test/contract/bus.ts):
 *  - every follower gets every event published after it began, in the order of publishing, once;
 *  - delivery is a later turn of the loop, never inside `publish`;
 *  - a publisher with a smaller epoch than one already seen for the feed is refused (`fenced`).
 */
export interface Bus {
  publish(
    event: BusEvent,
    epoch: number,
  ): Promise<{ readonly outcome: 'published'; readonly position: number } | { readonly outcome: 'fenced' }>
  follow(deliver: (delivered: Delivered) => void): () => void
}
