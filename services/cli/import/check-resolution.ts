import { basename } from 'node:path'
import { seriesOfFile } from '../../collector/sources/mt5-csv/export/file-name.ts'
import { readExport } from '../../collector/sources/mt5-csv/export/read-export.ts'
import { SpacingSample } from '../../collector/sources/mt5-csv/export/spacing.ts'
import { Fatal } from '../../platform/process/exit.ts'
import { explained } from './file/inspect-file.ts'
import type { ImportOptions } from './options.ts'

/**
 * Throws `Fatal` when a file has the name of a terminal's export of another resolution. If hours were imported as
 * minutes, coverage would claim that no other minute had a bar.
 */
export function checkName({
  name,
  symbol,
  resolution,
}: Pick<ImportOptions, 'name' | 'symbol' | 'resolution'>): void {
  const named = seriesOfFile(basename(name), [symbol])
  if (named === undefined || named.resolution === resolution) return
  // A name such as `part5.csv` is MT4's only if it has the symbol.
  if (named.isMt4 && !named.raw.includes(symbol)) return
  const isOf = `--resolution is ${resolution}, but ${name} has the name of an export of`
  const next =
    named.resolution === '30'
      ? '30; 30 is never stored, so import an export of 1'
      : named.resolution === undefined
        ? `${named.timeframe}, which fxd does not serve; import an export of another timeframe`
        : `${named.resolution}; state its resolution, or rename the file`
  throw new Fatal('usage', `${isOf} ${next}.`)
}

/** Throws `Fatal` when the distances of a file's first bars contradict the resolution. */
export async function checkSpacing({ path, name, resolution, insists }: ImportOptions): Promise<void> {
  if (insists) return
  const sample = new SpacingSample()
  await explained(name, async () => {
    for await (const { bars } of readExport(path, { resolution, finished: true })) {
      sample.add(bars.time)
      if (sample.isFull) break
    }
  })
  const fault = sample.fault(resolution)
  if (fault === undefined) return
  const insist = `If ${resolution} is right, add --resolution-is-right`
  throw new Fatal('usage', `--resolution is ${resolution}, but ${name} ${fault}. ${insist}.`)
}
