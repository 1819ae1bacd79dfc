import { type Bars, barsOf } from '../../../services/core/bars/bar.ts'
import { foldBars } from '../../../services/core/bars/derive.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import { bitcoinMinutes } from '../../acceptance/client/bars.ts'

const saturday = Date.UTC(2013, 10, 30) / 1000
const week = bitcoinMinutes().filter(({ time }) => time < saturday)
const minutes = barsOf(week.map((bar) => ({ ...bar, time: feedSeconds(bar.time), revision: 1 })))
const foldedTo = (resolution: Resolution): Bars =>
  foldBars(minutes, resolution, { isClosed: () => true, firstStored: undefined })

/** Real bars of a week that ended on Friday, at four resolutions. The weekly bar opens first and ends last. */
export const weekendBars: readonly (readonly [Resolution, Bars])[] = [
  ['1', minutes],
  ['60', foldedTo('60')],
  ['1D', foldedTo('1D')],
  ['1W', foldedTo('1W')],
]
/** Open time of Friday's last minute. */
export const lastMinute = feedSeconds(week.at(-1)?.time ?? Number.NaN)
/** Sunday, three hours after the weekly bar closed. */
export const sundayMorning = saturday + 27 * 3_600
