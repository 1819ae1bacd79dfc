import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import {
  delaySecondsMax,
  descriptionLengthMax,
  digitsMax,
  type SymbolRecord,
  type SymbolType,
  sessionOfType,
  sessions,
  symbolTypes,
} from '../../core/feeds/symbol.ts'
import { nameLengthMax } from '../../core/feeds/symbol-name.ts'
import { show } from '../../core/show.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'

const isOneOf = <T extends string>(list: readonly T[], text: string): text is T =>
  (list as readonly string[]).includes(text)

/** The first fault of a symbol, other than of its name; `undefined` without one. */
export function symbolFault(symbol: CatalogueSymbol__Output): string | undefined {
  const { digits, type, session, display, description } = symbol
  const delay = symbol.delaySeconds ?? 0
  const long = (field: string, text: string, max: number): string | undefined =>
    text.length > max ? `${field}: got ${text.length} characters, wanted at most ${max}` : undefined
  if (digits === undefined) return `digits: got nothing, wanted 0 to ${digitsMax}`
  if (digits > digitsMax) return `digits: got ${digits}, wanted 0 to ${digitsMax}`
  if (type !== '' && !isOneOf(symbolTypes, type)) {
    return `type: got ${show(type)}, wanted one of ${symbolTypes.join(', ')}`
  }
  if (session !== '' && !isOneOf(sessions, session)) {
    return `session: got ${show(session)}, wanted one of ${sessions.join(', ')}`
  }
  if (delay > delaySecondsMax) return `delay_seconds: got ${delay}, wanted 0 to ${delaySecondsMax}`
  return long('display', display, nameLengthMax) ?? long('description', description, descriptionLengthMax)
}

/** The record of a valid symbol with its defaults, without regard to the manifest or other catalogues. */
export function describeSymbol(
  name: string,
  symbol: CatalogueSymbol__Output,
  definition: FeedDefinition,
): Omit<SymbolRecord, 'raw' | 'origin'> {
  const type: SymbolType = isOneOf(symbolTypes, symbol.type) ? symbol.type : 'cfd'
  return {
    symbol: compoundKey(definition.key, name),
    feed: definition.key,
    name,
    display: symbol.display.trim() || name,
    description: symbol.description.trim(),
    type,
    digits: symbol.digits as number,
    session: isOneOf(sessions, symbol.session) ? symbol.session : sessionOfType(type),
    delaySeconds: symbol.delaySeconds ?? definition.delaySeconds,
    hidden: false,
  }
}
