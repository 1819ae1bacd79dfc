import type { Resolution } from '../../../core/resolution.ts'

const codes: ReadonlyMap<string, Resolution> = new Map([
  ['M1', '1'],
  ['M5', '5'],
  ['M10', '10'],
  ['M15', '15'],
  ['M30', '30'],
  ['H1', '60'],
  ['H2', '120'],
  ['H4', '240'],
  ['D1', '1D'],
  ['W1', '1W'],
  ['MN1', '1M'],
] as const)

export interface FileSeries {
  /** The terminal's own name, which may hold `_` itself. */
  readonly raw: string
  readonly resolution: Resolution
}

/**
 * `<RAW>_<RES>[_anything].csv`: the leftmost `_<RES>` followed by `_` or `.csv` ends the raw name.
 * Other names are no exports: `undefined`.
 */
export function seriesOfFile(fileName: string): FileSeries | undefined {
  if (!fileName.toLowerCase().endsWith('.csv')) return undefined
  const parts = fileName.slice(0, -'.csv'.length).split('_')
  const at = parts.findIndex((part, index) => index > 0 && codes.has(part))
  const raw = parts.slice(0, at).join('_')
  const resolution = codes.get(parts[at] ?? '')
  return at > 0 && raw !== '' && resolution !== undefined ? { raw, resolution } : undefined
}
