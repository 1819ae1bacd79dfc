/** Epoch seconds on the clock of a feed. A `Date` counts with its UTC fields, read on that clock. */
export type Time = number | Date

export type Resolution = '1' | '5' | '10' | '15' | '30' | '60' | '120' | '240' | '1D' | '1W' | '1M'

export interface Bar {
  /** When the bar opened: epoch seconds on the clock of its feed. */
  readonly time: number
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  /** Number of ticks. */
  readonly volume: number
}

/** A closed bar of one minute. */
export interface BarItem extends Bar {
  readonly type: 'bar'
  /** `BROKER:ACCOUNT:NAME` */
  readonly symbol: string
}

/** Bars that open from `from` to `to`, both included, may exist and are not given. */
export interface GapItem {
  readonly type: 'gap'
  readonly symbol: string
  readonly from: number
  readonly to: number
  /**
   * `unfilled`: the service could not show them within 2 minutes. `clock`: the feed's clock fell back, so these
   * minutes happened twice, and history keeps the second time.
   */
  readonly reason: 'unfilled' | 'clock'
}

/** The broker corrected bars that open from `from` to `to`; `history` has the new values. */
export interface RevisedItem {
  readonly type: 'revised'
  readonly symbol: string
  readonly resolution: Resolution
  readonly from: number
  readonly to: number
}

export type Item = BarItem | GapItem | RevisedItem

/** By symbol, the time of the last bar given, or, before the first, the time after which bars begin. JSON-ready. */
export type Position = Readonly<Record<string, number>>

/** `live`: bars come. `quiet`: nothing trades. `dead`: something failed. `unknown`: the feed reports no heartbeat, or too little time passed. */
export type Verdict = 'live' | 'quiet' | 'dead' | 'unknown'

/** `console` is one. Nothing is printed without a logger. */
export interface Logger {
  info?(message: string, fields: object): void
  warn?(message: string, fields: object): void
}

export interface SymbolInfo {
  readonly symbol: string
  readonly display_symbol: string
  readonly description: string
  readonly exchange: string
  readonly type: string
  readonly digits: number
  readonly price_scale: number
  readonly feed: string
}

export interface SymbolDetails extends SymbolInfo {
  readonly full_name: string
  readonly supported_resolutions: readonly Resolution[]
  readonly has_intraday: boolean
  readonly has_daily: boolean
  readonly has_weekly_and_monthly: boolean
  readonly session: string
  readonly timezone: string
  readonly data_status: string
  readonly delay_seconds: number
}

/** Opens of the first and the last bar of a range without a gap. */
export interface Range {
  readonly from: number
  readonly to: number
}

export interface FeedStatus {
  readonly status: 'live' | 'stale' | 'offline'
  readonly liveness_source: 'heartbeat' | 'candle' | 'none'
  readonly last_candle_time?: number
  readonly last_candle_age_seconds?: number
  readonly last_heartbeat_age_seconds?: number
  /** `real_utc = time + clock_offset_seconds`; absent: unknown, which is not 0. */
  readonly clock_offset_seconds?: number
  readonly clock_offset_age_seconds?: number
  readonly symbol_count: number
  readonly clock_note?: string
}

export interface Status {
  readonly status: 'ok' | 'degraded'
  readonly server_time: number
  readonly feeds: Readonly<Record<string, FeedStatus>>
}

export interface Counters {
  readonly requests: number
  readonly history: number
  readonly symbols: number
  readonly coverage: number
  readonly status: number
  readonly config: number
  readonly usage: number
  readonly ws_connect: number
  readonly ws_session: number
  readonly rate_limited: number
}

export interface Usage {
  readonly api_key: string
  readonly tier: string
  readonly limits: {
    readonly rpm: number
    readonly rpd: number
    readonly ws_connections: number
    readonly ws_symbols: number
  }
  readonly current: { readonly ws_connections_in_use: number }
  readonly today: Counters
  readonly history: readonly (Counters & { readonly date: string })[]
}

export interface Config {
  readonly supported_resolutions: readonly Resolution[]
  readonly supports_group_request: boolean
  readonly supports_marks: boolean
  readonly supports_search: boolean
  readonly supports_timescale_marks: boolean
  readonly exchanges: readonly { readonly value: string; readonly name: string; readonly desc: string }[]
  readonly symbols_types: readonly { readonly name: string; readonly value: string }[]
}
