import { basename } from 'node:path'
import { seriesOfFile } from '../../collector/sources/mt5-csv/export/file-name.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { Fatal } from '../../platform/process/exit.ts'

/**
 * Throws `Fatal` when a file has the name of a terminal's export of another resolution. If hours were imported as
 * minutes, coverage would claim that no other minute had a bar.
 */
export function checkResolution(name: string, resolution: Resolution): void {
  const named = seriesOfFile(basename(name))?.resolution
  if (named === undefined || named === resolution) return
  const next =
    named === '30'
      ? '30 is never stored, so import an export of 1'
      : 'state its resolution, or rename the file'
  throw new Fatal(
    'usage',
    `--resolution is ${resolution}, but ${name} has the name of an export of ${named}; ${next}.`,
  )
}
