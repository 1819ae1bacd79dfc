import { compoundKey } from '../core/compound-key.ts'
import type { FeedDefinition } from '../core/feed.ts'
import { show } from '../core/show.ts'
import { type Session, type SymbolRecord, type SymbolType, sessions, symbolTypes } from '../core/symbol.ts'
import type { CatalogueSymbol__Output } from '../wire/fxd/v1/CatalogueSymbol.ts'

/** Prices are integers below 2^53 on the wire: more decimals leave no room before the point. */
const digitsMax = 10
const delaySecondsMax = 86_400
const displayLengthMax = 64
const descriptionLengthMax = 256

const isOneOf = <T extends string>(list: readonly T[], text: string): text is T =>
  (list as readonly string[]).includes(text)

/** What is wrong with a symbol apart from its name. */
export function symbolFault(symbol: CatalogueSymbol__Output): string | undefined {
  const { digits, type, session, display, description } = symbol
  const delay = symbol.delaySeconds ?? 0
  const long = (field: string, text: string, max: number): string | undefined =>
    text.length > max ? `${field}: got ${text.length} characters, wanted at most ${max}` : undefined
  if (digits > digitsMax) return `digits: got ${digits}, wanted 0 to ${digitsMax}`
  if (type !== '' && !isOneOf(symbolTypes, type)) {
    return `type: got ${show(type)}, wanted one of ${symbolTypes.join(', ')}`
  }
  if (session !== '' && !isOneOf(sessions, session)) {
    return `session: got ${show(session)}, wanted one of ${sessions.join(', ')}`
  }
  if (delay > delaySecondsMax) return `delay_seconds: got ${delay}, wanted 0 to ${delaySecondsMax}`
  return long('display', display, displayLengthMax) ?? long('description', description, descriptionLengthMax)
}

/** A faultless symbol with its defaults, as it would be if nobody else had a say. */
export function describeSymbol(
  name: string,
  symbol: CatalogueSymbol__Output,
  definition: FeedDefinition,
): Omit<SymbolRecord, 'raw' | 'origin'> {
  const type: SymbolType = isOneOf(symbolTypes, symbol.type) ? symbol.type : 'cfd'
  const byType: Session = type === 'crypto' ? '24x7' : '24x5'
  return {
    symbol: compoundKey(definition.key, name),
    feed: definition.key,
    name,
    display: symbol.display.trim() || name,
    description: symbol.description.trim(),
    type,
    digits: symbol.digits,
    session: isOneOf(sessions, symbol.session) ? symbol.session : byType,
    delaySeconds: symbol.delaySeconds ?? definition.delaySeconds,
    hidden: false,
  }
}
