import { type Resolution, terminalCodes } from '../../../../core/feeds/resolution.ts'

export interface FileSeries {
  /** The terminal's own name, which may contain `_`. */
  readonly raw: string
  readonly resolution: Resolution
}

/**
 * `<RAW>_<RES>[_anything].csv`: the leftmost `_<RES>` followed by `_` or `.csv` ends the raw name.
 * Returns `undefined` for other names: they are no exports.
 */
export function seriesOfFile(fileName: string): FileSeries | undefined {
  if (!fileName.toLowerCase().endsWith('.csv')) return undefined
  const parts = fileName.slice(0, -'.csv'.length).split('_')
  const at = parts.findIndex((part, index) => index > 0 && terminalCodes.has(part))
  const raw = parts.slice(0, at).join('_')
  const resolution = terminalCodes.get(parts[at] ?? '')
  return at > 0 && raw !== '' && resolution !== undefined ? { raw, resolution } : undefined
}
