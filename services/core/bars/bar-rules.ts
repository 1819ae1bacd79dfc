import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../feeds/resolution.ts'
import type { Bar } from './bar.ts'
import { closeToleranceSeconds } from './closed.ts'

/** Why ingest rejects a bar or a message; the names of `RefusalReason` in collector.proto. */
export const refusalReasons = [
  'UNKNOWN_SERIES',
  'FOREIGN_FEED',
  'OFF_GRID',
  'IN_THE_FUTURE',
  'NOT_CLOSED',
  'BEFORE_1970',
  'PAST_RETENTION',
  'OHLC_ORDER',
  'PRICE',
  'VOLUME',
  'SCALE',
  'REVISION',
  'MALFORMED',
  'SEQUENCE',
  'NOT_CATALOGUED',
  'TOO_MANY_WINDOWS',
  'BEFORE_EARLIEST',
] as const
export type RefusalReason = (typeof refusalReasons)[number]

export interface BarFault {
  readonly reason: RefusalReason
  /** Names the field, the value and what is wanted. */
  readonly message: string
}

export interface BarLimits {
  /** "Now" on the feed's clock; absent while that is unknown. */
  readonly now?: FeedSeconds | undefined
  /** The oldest time that is kept; absent: all times are. */
  readonly retention?: FeedSeconds | undefined
  /** The oldest time that the manifest accepts. */
  readonly earliest?: FeedSeconds | undefined
}

export const barTimeMin = feedSeconds(0)
/** A time in 2255: up to it a double counts microseconds exactly. No store gets later times. */
export const barTimeMax = feedSeconds(9_007_199_254)
export const fault = (reason: RefusalReason, message: string): BarFault => ({ reason, message })

/** The fault of a bar by itself; `isClosed` decides whether it is closed. */
export function barFault(bar: Bar, r: Resolution, at: BarLimits = {}): BarFault | undefined {
  return timeFault(bar.time, r, at) ?? priceFault(bar) ?? orderFault(bar) ?? volumeFault(bar.volume)
}

/** Bars up to 30 minutes begin at a multiple of their duration; the broker decides the minute of longer ones. */
export const gridSeconds = (r: Resolution): number =>
  r === '1' || r === '5' || r === '10' || r === '15' || r === '30' ? durationSeconds[r] : 60

function timeFault(
  time: number,
  r: Resolution,
  { now, retention, earliest }: BarLimits,
): BarFault | undefined {
  const grid = gridSeconds(r)
  if (time < 0) return fault('BEFORE_1970', `time: got ${time}, wanted 0 (1970-01-01) or later`)
  if (!Number.isSafeInteger(time) || time % grid !== 0) {
    return fault('OFF_GRID', `time: got ${time}, wanted a multiple of ${grid} s for resolution ${r}`)
  }
  const latest = now === undefined ? barTimeMax : Math.min(barTimeMax, now + closeToleranceSeconds)
  if (time > latest) {
    return fault('IN_THE_FUTURE', `time: got ${time}, wanted at most ${latest}, now on the feed's clock`)
  }
  if (retention !== undefined && time < retention) {
    return fault('PAST_RETENTION', `time: got ${time}, wanted ${retention} or later, the feed's retention`)
  }
  if (earliest !== undefined && time < earliest) {
    return fault(
      'BEFORE_EARLIEST',
      `time: got ${time}, wanted ${earliest} or later, "earliest" of the manifest`,
    )
  }
  return undefined
}

/** Zero and negative prices are the broker's own values, as of oil, power and spreads. */
function priceFault(bar: Bar): BarFault | undefined {
  const field = (['open', 'high', 'low', 'close'] as const).find((name) => !Number.isFinite(bar[name]))
  return field && fault('PRICE', `${field}: got ${bar[field]}, wanted a finite number`)
}

function orderFault({ open, high, low, close }: Bar): BarFault | undefined {
  if (low > open || low > close) {
    return fault('OHLC_ORDER', `low: got ${low}, wanted at most open ${open} and close ${close}`)
  }
  if (high < open || high < close) {
    return fault('OHLC_ORDER', `high: got ${high}, wanted at least open ${open} and close ${close}`)
  }
  return undefined
}

function volumeFault(volume: number): BarFault | undefined {
  if (volume >= 0 && Number.isSafeInteger(volume)) return undefined
  return fault('VOLUME', `volume: got ${volume}, wanted a whole number, 0 or more`)
}
