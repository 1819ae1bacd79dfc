import { allocateBars, type Bars, barCount, copyBars, sliceBars } from '../../../core/bars/bar.ts'
import { sortBars } from '../../../core/bars/revision.ts'
import { Fatal } from '../../../platform/process/exit.ts'
import type { LineBars } from './read-lines.ts'
import { SortedRuns } from './sorted-runs.ts'

/** Bars sorted in memory at a time, 56 bytes each; more bars are sorted in runs on the disk and merged. */
const runBars = 1 << 18
/** Maximum runs, far more than any export needs; each takes about 100 KiB of memory during the merge. */
const runsMax = 1_000

export interface SortSizes {
  readonly runBars: number
  readonly blockBars: number
}

const defaultSizes: SortSizes = { runBars, blockBars: 2_048 }

/**
 * Yields the bars ascending, each time once. Of duplicates the last line is kept, the others are counted. Memory is
 * bounded for any number of bars: a temporary file stores all runs when there is more than one.
 */
export async function* sortLines(
  lines: AsyncIterable<LineBars>,
  onDuplicates: (count: number) => void,
  sizes: SortSizes = defaultSizes,
): AsyncGenerator<LineBars> {
  const buffer = allocateBars(sizes.runBars)
  let filled = 0
  let runs: SortedRuns | undefined
  try {
    for await (const bars of lines) {
      for (let at = 0; at < barCount(bars); ) {
        if (filled === sizes.runBars) {
          runs ??= await SortedRuns.create(sizes.blockBars)
          await spill(runs, buffer, onDuplicates)
          filled = 0
        }
        const taken = Math.min(barCount(bars) - at, sizes.runBars - filled)
        copyBars(sliceBars(bars, at, at + taken), buffer, filled)
        filled += taken
        at += taken
      }
    }
    const rest = sliceBars(buffer, 0, filled)
    if (runs === undefined) {
      yield sorted(rest, onDuplicates)
      return
    }
    await spill(runs, rest, onDuplicates)
    yield* runs.merge(onDuplicates)
  } finally {
    await runs?.close()
  }
}

function sorted(bars: Bars, onDuplicates: (count: number) => void): Bars {
  const { bars: ascending, duplicates } = sortBars(bars)
  onDuplicates(duplicates)
  return ascending
}

async function spill(runs: SortedRuns, bars: Bars, onDuplicates: (count: number) => void): Promise<void> {
  if (runs.count === runsMax) {
    throw new Fatal(
      'noInput',
      `The file has more than ${runs.count * runBars} lines that do not ascend; split it.`,
    )
  }
  await runs.add(sorted(bars, onDuplicates))
}
