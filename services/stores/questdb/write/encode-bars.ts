import type { Bars } from '../../../core/bars/bar.ts'
import type { Series, SeriesBars } from '../../../core/bars/series.ts'
import { nameOf } from '../layout/tables.ts'
import { timeMax, timeMin } from '../times.ts'
import { BarRows, type TableBars } from './bar-rows.ts'
import type { EncodedRows } from './rows.ts'

/** `nextTaken` returns a number for each row, ascending over all writes of this process. */
export function encodeBars(batch: readonly TableBars[], nextTaken: () => number): readonly EncodedRows[] {
  const rows = new BarRows()
  // Rows of one table must be adjacent: each table is a separate commit.
  const byTable = [...Map.groupBy(batch, ({ table }) => table)].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [, list] of byTable) for (const each of list) rows.add(each, nextTaken)
  return rows.pieces()
}

/**
 * Throws for bars that QuestDB would reject with all others of their table, such as NUL in a name, or accept and change:
 * NaN and infinities become NULL, milliseconds become a time in 1970, and a row may lack its symbol. This is a defect of
 * the caller; it must not affect other rows.
 */
export function refuseUnfit({ series, bars }: SeriesBars): void {
  const name = nameOf(series)
  if (name === '' || name.includes('\0'))
    throw new RangeError(`Bars have the symbol "${series.symbol}"; it must be BROKER:ACCOUNT:NAME.`)
  const { time, open, high, low, close, volume, revision } = bars
  for (let i = 0; i < time.length; i++) {
    const at = time[i] as number
    if (!Number.isSafeInteger(at) || at < timeMin || at > timeMax)
      throw unfit(series, bars, i, 'time', timeWanted)
    if (!Number.isSafeInteger(revision[i])) throw unfit(series, bars, i, 'revision', 'an integer')
    if (!Number.isSafeInteger(volume[i])) throw unfit(series, bars, i, 'volume', 'an integer')
    if (!Number.isFinite(open[i])) throw unfit(series, bars, i, 'open', 'a finite number')
    if (!Number.isFinite(high[i])) throw unfit(series, bars, i, 'high', 'a finite number')
    if (!Number.isFinite(low[i])) throw unfit(series, bars, i, 'low', 'a finite number')
    if (!Number.isFinite(close[i])) throw unfit(series, bars, i, 'close', 'a finite number')
  }
}

const timeWanted = `an integer from ${timeMin} to ${timeMax} (seconds)`

const unfit = (
  { symbol, resolution }: Series,
  bars: Bars,
  i: number,
  column: keyof Bars,
  wanted: string,
): RangeError =>
  new RangeError(
    `A bar of ${symbol} at ${resolution} has the ${column} ${bars[column][i]}; it must be ${wanted}.`,
  )
