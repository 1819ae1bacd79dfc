import { allocateBars, type Bars, barCount, sliceBars } from '../../../core/bars/bar.ts'
import { bucketOpen, createFold } from '../../../core/bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { barEnd, durationSeconds, type Resolution } from '../../../core/feeds/resolution.ts'
import { isShareCfd } from '../../../core/feeds/symbol-name.ts'
import type { SimulatedSymbol } from './instrument.ts'
import { hourOf, type Instrument, minutePrices } from './price-path.ts'

const hoursPerDay = 24
/** 1970-01-01 was a Thursday; 0 is Sunday. */
const weekday = (hour: number): number => (Math.floor(hour / hoursPerDay) + 4) % 7
const hourOfDay = (hour: number): number => ((hour % hoursPerDay) + hoursPerDay) % hoursPerDay

/** Hours of the day, on the feed's clock, in which shares trade; some of their minutes have no trade. */
const shareOpens = 14
const shareCloses = 21

/** Whether the symbol trades in this hour; hours count from 1970 on the feed's clock. */
function trades(symbol: SimulatedSymbol, hour: number): boolean {
  if (symbol.session === '24x7') return true
  const day = weekday(hour)
  if (day === 0 || day === 6) return false
  return !isShareCfd(symbol.name) || (hourOfDay(hour) >= shareOpens && hourOfDay(hour) < shareCloses)
}

const hourSeconds = 3_600
/** Maximum hours that are simulated at once: 2,880 minutes of bars, or 2,880 hours. */
const minuteHoursPerStep = 48
const hoursPerStep = 2_880

export interface Simulation {
  readonly symbol: SimulatedSymbol
  readonly instrument: Instrument
  /** Whole hours from the feed's clock to UTC, so that all feeds have the same market. */
  readonly hoursToUtc: number
}

/** Yields all bars of a resolution that open in `[from, to)`, in ascending pieces. Longer bars are folded from hours. */
export function* simulate(
  simulation: Simulation,
  r: Resolution,
  from: FeedSeconds,
  to: FeedSeconds,
): Generator<Bars> {
  const ofMinutes = r !== '1M' && durationSeconds[r] <= durationSeconds['15']
  const open = bucketOpen(from, r)
  const first = open < from ? barEnd(open, r) : open
  if (first >= to) return
  const end = barEnd(bucketOpen(feedSeconds(to - 1), r), r)
  const step = (ofMinutes ? minuteHoursPerStep : hoursPerStep) * hourSeconds
  const fold = createFold(r)
  for (let at: number = first; at < end; at += step) {
    const until = Math.min(end, at + step)
    const pieces = ofMinutes ? minuteBars(simulation, at, until) : hourBars(simulation, at, until)
    const bars = r === '1' || r === '60' ? pieces : fold.push(pieces)
    if (barCount(bars) > 0) yield bars
  }
  const rest = fold.end()
  if (barCount(rest) > 0) yield rest
}

const price = (points: number, digits: number): number => points / 10 ** digits

function hourBars({ symbol, instrument, hoursToUtc }: Simulation, from: number, to: number): Bars {
  const firstHour = Math.ceil(from / hourSeconds)
  const endHour = Math.ceil(to / hourSeconds)
  const bars = allocateBars(endHour - firstHour)
  let count = 0
  for (let hour = firstHour; hour < endHour; hour++) {
    if (!trades(symbol, hour)) continue
    const { open, high, low, close, volume } = hourOf(instrument, hour + hoursToUtc)
    bars.time[count] = hour * hourSeconds
    bars.open[count] = price(open, instrument.digits)
    bars.high[count] = price(high, instrument.digits)
    bars.low[count] = price(low, instrument.digits)
    bars.close[count] = price(close, instrument.digits)
    bars.volume[count] = volume
    count++
  }
  return sliceBars(bars, 0, count)
}

function minuteBars({ symbol, instrument, hoursToUtc }: Simulation, from: number, to: number): Bars {
  const bars = allocateBars(Math.ceil((to - from) / 60))
  let count = 0
  for (let hour = Math.floor(from / hourSeconds); hour * hourSeconds < to; hour++) {
    if (!trades(symbol, hour)) continue
    const whole = hourOf(instrument, hour + hoursToUtc)
    const prices = minutePrices(instrument, whole, hour + hoursToUtc)
    for (let minute = 0; minute < 60; minute++) {
      const time = hour * hourSeconds + minute * 60
      const weight = whole.liquidity.weights[minute] as number
      if (weight === 0 || time < from || time >= to) continue
      const open = prices[minute] as number
      const close = prices[minute + 1] as number
      const high = minute === whole.highMinute ? whole.high : Math.max(open, close)
      const low = minute === whole.lowMinute ? whole.low : Math.min(open, close)
      bars.time[count] = time
      bars.open[count] = price(open, instrument.digits)
      bars.high[count] = price(high, instrument.digits)
      bars.low[count] = price(low, instrument.digits)
      bars.close[count] = price(close, instrument.digits)
      bars.volume[count] = weight * whole.ticksPerWeight
      count++
    }
  }
  return sliceBars(bars, 0, count)
}
