import { isShareCfd } from '../../../core/symbol-name.ts'
import type { SimulatedSymbol } from './instrument.ts'

const hoursPerDay = 24
/** 1970-01-01 was a Thursday; 0 is Sunday. */
const weekday = (hour: number): number => (Math.floor(hour / hoursPerDay) + 4) % 7
const hourOfDay = (hour: number): number => ((hour % hoursPerDay) + hoursPerDay) % hoursPerDay

/** Hours of the day, on the feed's clock, in which shares trade (and not in every minute of them). */
const shareOpens = 14
const shareCloses = 21

/** Whether the symbol trades in this hour; hours count from 1970 on the feed's clock. */
export function trades(symbol: SimulatedSymbol, hour: number): boolean {
  if (symbol.session === '24x7') return true
  const day = weekday(hour)
  if (day === 0 || day === 6) return false
  return !isShareCfd(symbol.name) || (hourOfDay(hour) >= shareOpens && hourOfDay(hour) < shareCloses)
}
