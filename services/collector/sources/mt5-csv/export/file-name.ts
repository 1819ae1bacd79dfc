import { type Resolution, terminalCodes } from '../../../../core/feeds/resolution.ts'

export interface NamedSeries {
  /** The terminal's own name, which may contain `_`. */
  readonly raw: string
  /** The part of the name that is the timeframe, such as `H1`, `Daily` or MT4's `60`. */
  readonly timeframe: string
  /** `undefined`: fxd does not serve this timeframe. */
  readonly resolution: Resolution | undefined
  /** Whether the name has MT4's form, which other names may have by chance. */
  readonly isMt4: boolean
}

/** The timeframes in names of exports; MT5 writes the longest three as words. */
export const fileTimeframes: ReadonlyMap<string, Resolution> = new Map([
  ...terminalCodes,
  ['Daily', '1D'],
  ['Weekly', '1W'],
  ['Monthly', '1M'],
])

/** Timeframes of MT5 that fxd does not serve. */
const unserved: ReadonlySet<string> = new Set(['M2', 'M3', 'M4', 'M6', 'M12', 'M20', 'H3', 'H6', 'H8', 'H12'])

export const mt4Minutes: ReadonlyMap<string, Resolution> = new Map([
  ['1', '1'],
  ['5', '5'],
  ['15', '15'],
  ['30', '30'],
  ['60', '60'],
  ['240', '240'],
  ['1440', '1D'],
  ['10080', '1W'],
  ['43200', '1M'],
])

/**
 * Reads the name of an export. Returns `undefined` for other names. `symbols`: known raw names.
 * MT5: `<RAW>_<TIMEFRAME>[_anything].csv`, where the leftmost timeframe ends the raw name.
 * MT4: `<RAW><minutes>.csv`, where a raw name that has a `_` or ends in a digit must be known: `X_part5` is no export.
 */
export function seriesOfFile(fileName: string, symbols: readonly string[] = []): NamedSeries | undefined {
  if (!fileName.toLowerCase().endsWith('.csv')) return undefined
  const stem = fileName.slice(0, -'.csv'.length)
  return mt5Series(stem) ?? mt4Series(stem, symbols)
}

function mt5Series(stem: string): NamedSeries | undefined {
  const parts = stem.split('_')
  const at = parts.findIndex((part, index) => index > 0 && (fileTimeframes.has(part) || unserved.has(part)))
  const timeframe = parts[at]
  const raw = parts.slice(0, at).join('_')
  if (timeframe === undefined || raw === '') return undefined
  return { raw, timeframe, resolution: fileTimeframes.get(timeframe), isMt4: false }
}

function mt4Series(stem: string, symbols: readonly string[]): NamedSeries | undefined {
  if (!/\d$/.test(stem) || symbols.includes(stem)) return undefined
  const known = symbols.filter((raw) => stem.startsWith(raw) && mt4Minutes.has(stem.slice(raw.length)))
  const longest = known.sort((a, b) => b.length - a.length)[0]
  const raw = longest ?? /^([^_]*[^\d_\s-])\d+$/.exec(stem)?.[1]
  if (raw === undefined) return undefined
  const timeframe = stem.slice(raw.length)
  const resolution = mt4Minutes.get(timeframe)
  return resolution && { raw, timeframe, resolution, isMt4: true }
}
