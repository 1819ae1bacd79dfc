import { allocateBars, barCount, copyBars, pickBars, sliceBars } from '../../../core/bars/bar.ts'
import { ascendingOrder } from '../../../core/bars/revision.ts'
import { Fatal } from '../../../platform/process/exit.ts'
import { batchBarsMax } from '../../../wire/limits.ts'
import { grouped } from '../progress.ts'
import { changedMeanwhile } from './inspect-file.ts'
import type { LineOrder } from './order.ts'
import type { LineBars } from './read-lines.ts'

/** Maximum lines that are sorted, all in memory: 56 bytes for each. */
const sortedLinesMax = 5_000_000

/** Throws `Fatal` for a file that would have to be sorted and is too large for that. */
export function checkSortable(name: string, { lines, unsortedLine }: LineOrder): void {
  if (unsortedLine === undefined || lines <= sortedLinesMax) return
  const found = `${name} has ${grouped(lines)} lines, and line ${grouped(unsortedLine)} is not later than the one before it`
  const cure = 'sort the file by time, or split it'
  throw new Fatal('noInput', `${found}. At most ${grouped(sortedLinesMax)} lines are sorted: ${cure}.`)
}

/** Yields the bars ascending, each time once. Of duplicates the last line is kept, the others are counted. */
export async function* sortLines(
  bars: AsyncIterable<LineBars>,
  { name, lines }: Pick<LineOrder, 'lines'> & { readonly name: string },
  onDuplicates: (count: number) => void,
): AsyncGenerator<LineBars> {
  const buffer = allocateBars(lines)
  let filled = 0
  for await (const piece of bars) {
    if (filled + barCount(piece) > lines) throw changedMeanwhile(name)
    copyBars(piece, buffer, filled)
    filled += barCount(piece)
  }
  const order = ascendingOrder(sliceBars(buffer, 0, filled))
  onDuplicates(filled - order.length)
  for (let at = 0; at < order.length; at += batchBarsMax)
    yield pickBars(buffer, order.subarray(at, at + batchBarsMax))
}
