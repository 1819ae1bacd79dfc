import type { Bar } from '../../../clients/typescript/src/types.ts'
import { numberText, timeText } from '../texts/words.ts'

interface Described {
  readonly bar: Bar
  readonly digits: number
  readonly isOfDays: boolean
  /** Time of the bar in UTC; `undefined`: the clock of the feed is unknown. */
  readonly utc: number | undefined
}

/** A bar in words: the times of both clocks, prices and volume. */
export function legendText({ bar, digits, isOfDays, utc }: Described): string {
  const price = (value: number): string => value.toFixed(digits)
  const times = isOfDays
    ? timeText(bar.time, true)
    : `${timeText(bar.time)} feed · ${utc === undefined ? 'UTC unknown' : `${timeText(utc)} UTC`}`
  return `${times} · O ${price(bar.open)} H ${price(bar.high)} L ${price(bar.low)} C ${price(bar.close)} · Volume ${numberText(bar.volume)}`
}
