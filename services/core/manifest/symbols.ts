import type { ListedSymbol } from '../feeds/feed.ts'
import {
  delaySecondsMax,
  descriptionLengthMax,
  digitsMax,
  type SymbolType,
  sessions,
  symbolTypeNicknames,
  symbolTypes,
} from '../feeds/symbol.ts'
import { cleanName, isCleanName, isShareCfd, nameLengthMax, nameWanted } from '../feeds/symbol-name.ts'
import type { Place } from './document.ts'

/** Maximum symbols of a manifest; the collector of the feed reports more. */
const listedSymbolsMax = 200
const suffixesMax = 32
const suffixLengthMax = 16

const symbolFields = ['raw', 'display', 'description', 'type', 'digits', 'session', 'delaySeconds'] as const

export interface SymbolRules {
  readonly suffixes: readonly string[]
  readonly symbols: readonly ListedSymbol[]
}

export function parseSymbols(place: Place): SymbolRules {
  const fields = place.mapping(['suffixes', 'list'])
  const suffixes = parseSuffixes(fields.may('suffixes'))
  const seen = new Map<string, Named>()
  const symbols = fields.may('list').items(listedSymbolsMax)
  return { suffixes, symbols: symbols.map((item) => parseSymbol(item, suffixes, seen)) }
}

function parseSuffixes(place: Place): string[] {
  const suffixes: string[] = []
  for (const item of place.items(suffixesMax)) {
    const suffix = item.text(
      `a text of 1 to ${suffixLengthMax} characters that raw names end with, such as ".z"`,
      (text) => isCleanName(text) && text.length <= suffixLengthMax,
    )
    if (suffix === undefined) continue
    if (isShareCfd(suffix))
      item.fault(`got "${suffix}", wanted no _CFD.<EXCHANGE>: it is part of the identity`)
    if (suffixes.includes(suffix)) item.fault(`got "${suffix}" twice, wanted each suffix once`)
    suffixes.push(suffix)
  }
  return suffixes
}

interface Named {
  readonly raw: string
  readonly place: Place
}

function parseSymbol(item: Place, suffixes: readonly string[], seen: Map<string, Named>): ListedSymbol {
  const fields = item.mapping(symbolFields)
  const raw = parseRaw(fields.need('raw'), suffixes, seen)
  const type = parseType(fields.need('type'), raw)
  const display = fields.may('display').words(nameLengthMax)
  const description = fields.may('description').words(descriptionLengthMax)
  const digits = fields.need('digits').integer(0, digitsMax) ?? 0
  const session = fields.may('session').oneOf(sessions)
  const delaySeconds = fields.may('delaySeconds').integer(0, delaySecondsMax)
  return {
    raw,
    ...(display !== undefined && { display }),
    ...(description !== undefined && { description }),
    type,
    digits,
    ...(session !== undefined && { session }),
    ...(delaySeconds !== undefined && { delaySeconds }),
  }
}

function parseRaw(place: Place, suffixes: readonly string[], seen: Map<string, Named>): string {
  const raw = place.text(`the terminal's own name, ${nameWanted}`, isCleanName)
  if (raw === undefined) return ''
  const clean = cleanName(raw, suffixes)
  const earlier = seen.get(clean)
  if (earlier === undefined) seen.set(clean, { raw, place })
  else if (earlier.raw === raw) place.fault(`got "${raw}" twice, wanted each symbol once`)
  else {
    place.fault(
      `got "${raw}" beside "${earlier.raw}", which both become ${clean} without their suffix; ` +
        'wanted one raw name per clean name',
    )
  }
  return raw
}

function parseType(place: Place, raw: string): SymbolType {
  const type = place.oneOf(symbolTypes, symbolTypeNicknames) ?? 'cfd'
  if (type !== 'cfd' && isShareCfd(raw)) place.fault(`got "${type}" for "${raw}", wanted "cfd"`)
  return type
}
