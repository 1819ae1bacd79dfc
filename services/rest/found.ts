import { grant } from '../access/grant.ts'
import { Failure } from '../core/failure.ts'
import { type CompoundKey, parseCompoundKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { RegistryView } from '../core/registry/registry.ts'

export interface FoundSymbol {
  readonly feed: FeedDefinition
  readonly symbol: SymbolRecord
}

/** Finds the symbol of a compound key; `undefined` if there is none. Throws a `Failure` if its feed is not granted. */
export function findSymbol(text: string, key: KeyRecord, view: RegistryView): FoundSymbol | undefined {
  const parts = parseCompoundKey(text)
  const feed = parts && view.feed(parts.feed)
  if (!feed) return undefined
  grant(key, feed.key)
  const symbol = view.symbol(text as CompoundKey)
  return symbol && { feed, symbol }
}

/** Like `findSymbol`, but throws SYMBOL_NOT_FOUND if there is none. */
export function mustFindSymbol(text: string, key: KeyRecord, view: RegistryView): FoundSymbol {
  const found = findSymbol(text, key, view)
  if (!found) throw new Failure('SYMBOL_NOT_FOUND')
  return found
}
