import type { Bar, FeedStatus, RevisedItem } from './types.ts'

type Row = readonly [name: string, open: number, high: number, low: number, close: number, volume: number]

/** What the service sends. Frames of other types are ignored. */
export type Frame =
  | { readonly type: 'connected'; readonly limits: { readonly max_symbols: number } }
  | {
      readonly type: 'subscribed'
      readonly symbols: readonly string[]
      readonly rejected: readonly string[]
      readonly rejected_feeds?: readonly string[]
      /** Absent in an answer. Else a symbol of a whole feed is new, or found a place. */
      readonly reason?: string
      readonly since?: Readonly<Record<string, number>>
    }
  | { readonly type: 'unsubscribed'; readonly symbols: readonly string[]; readonly reason?: string }
  | { readonly type: 'bar'; readonly symbol: string; readonly bar: Bar }
  | { readonly type: 'bars'; readonly feed: string; readonly time: number; readonly bars: readonly Row[] }
  | { readonly type: 'minute'; readonly feed: string; readonly time: number }
  | ({ readonly type: 'feed'; readonly feed: string } & Pick<FeedStatus, 'status' | 'liveness_source'>)
  | RevisedItem
  | {
      readonly type: 'error'
      readonly code: string
      readonly message: string
      readonly gaps?: readonly { readonly symbol: string; readonly after?: number }[]
    }

export const feedOf = (symbol: string): string => symbol.split(':', 2).join(':')
