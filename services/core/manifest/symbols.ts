import type { FeedDefinition, ListedSymbol } from '../feeds/feed.ts'
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

const symbolFields = [
  'raw',
  'name',
  'display',
  'description',
  'type',
  'digits',
  'session',
  'delaySeconds',
] as const

export function parseSymbols(place: Place): Pick<FeedDefinition, 'suffixes' | 'symbols'> {
  const fields = place.mapping(['suffixes', 'list'])
  const suffixes = parseSuffixes(fields.may('suffixes'))
  const seen = new Map<string, string>()
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

/** `seen`: raw names by their clean names. */
function parseSymbol(item: Place, suffixes: readonly string[], seen: Map<string, string>): ListedSymbol {
  const fields = item.mapping(symbolFields)
  const rawField = fields.need('raw')
  const raw = rawField.text(`the terminal's own name, ${nameWanted}`, isCleanName) ?? ''
  const name = fields.may('name').text(`a clean name, ${nameWanted}`, isCleanName)
  if (raw !== '') refuseSecond(rawField, raw, name ?? cleanName(raw, suffixes), seen)
  const type = parseType(fields.need('type'), raw, name)
  const display = fields.may('display').words(nameLengthMax)
  const description = fields.may('description').words(descriptionLengthMax)
  const digits = fields.need('digits').integer(0, digitsMax) ?? 0
  const session = fields.may('session').oneOf(sessions)
  const delaySeconds = fields.may('delaySeconds').integer(0, delaySecondsMax)
  return {
    raw,
    ...(name !== undefined && { name }),
    ...(display !== undefined && { display }),
    ...(description !== undefined && { description }),
    type,
    digits,
    ...(session !== undefined && { session }),
    ...(delaySeconds !== undefined && { delaySeconds }),
  }
}

/** Two symbols cannot have one name, raw or clean. */
function refuseSecond(place: Place, raw: string, clean: string, seen: Map<string, string>): void {
  const rival = seen.get(clean)
  if ([...seen.values()].includes(raw)) place.fault(`got "${raw}" twice, wanted each symbol once`)
  else if (rival !== undefined)
    place.fault(
      `got "${raw}" beside "${rival}", which both become "${clean}"; wanted one raw name per clean name`,
    )
  if (rival === undefined) seen.set(clean, raw)
}

function parseType(place: Place, raw: string, name = raw): SymbolType {
  const type = place.oneOf(symbolTypes, symbolTypeNicknames) ?? 'cfd'
  const share = [raw, name].find(isShareCfd)
  if (type !== 'cfd' && share !== undefined) place.fault(`got "${type}" for "${share}", wanted "cfd"`)
  return type
}
