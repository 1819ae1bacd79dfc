import type { Resolution } from '../../../core/feeds/resolution.ts'
import { descriptionLengthMax, type SymbolType } from '../../../core/feeds/symbol.ts'
import type { TerminalSymbol } from '../../../core/terminal/lines.ts'
import type { SourceSymbol } from '../../source.ts'

const typeNames: readonly (readonly [SymbolType, RegExp])[] = [
  ['forex', /^(forex|fx|currenc)/i],
  ['crypto', /^(crypto|coin)/i],
  ['index', /^(index|indices)/i],
]

/** The first folder of the path in the terminal names the type, such as `Forex\Majors\EURUSD`. */
const typeOf = (path: string): SymbolType =>
  typeNames.find(([, names]) => names.test(path.replace(/^[\\/]+/, '')))?.[0] ?? 'cfd'

export const toSourceSymbol = (
  { raw, digits, path, description }: TerminalSymbol,
  resolutions: readonly Resolution[],
): SourceSymbol => ({
  raw,
  digits,
  description: description.slice(0, descriptionLengthMax),
  type: typeOf(path),
  resolutions,
})
