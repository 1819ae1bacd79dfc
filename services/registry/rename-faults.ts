import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import { cleanNames } from '../core/feeds/symbol-name.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { show } from '../core/show.ts'
import type { BarStore } from '../ports/bars.ts'
import type { FeedFault } from './feed-rows.ts'
import { readStored } from './read-stored.ts'
import type { RegistryWriter } from './writer.ts'

interface Renaming {
  readonly had: SymbolRecord
  readonly name: string
  readonly index: number
}

/**
 * Faults of each `name`, given or taken away, that would rename a shown symbol with bars. Rejects if the store is
 * unavailable: then it is unknown whether there are bars.
 */
export async function renameFaults(
  definition: FeedDefinition,
  { writer, bars }: { readonly writer: RegistryWriter; readonly bars: Pick<BarStore, 'lastTimes'> },
): Promise<FeedFault[]> {
  const { key: feed } = definition
  const found = await writer.change((view) => ({ rows: [], result: renamings(definition, view) }))
  if (found.length === 0) return []
  const storedOf = await readStored(feed, bars)
  return found
    .filter(({ had }) => storedOf(had).length > 0)
    .map(({ had, name, index }) => {
      const message = `got ${show(name)}, wanted ${show(had.name)}: the bars of ${had.symbol} are stored under that name`
      return { feed, path: ['spec', 'symbols', 'list', index, 'name'], message }
    })
}

function renamings(definition: FeedDefinition, view: RegistryView): Renaming[] {
  const shown = view.allSymbolsOf(definition.key).filter(({ hidden }) => !hidden)
  const before = view.feedRecords.get(definition.key)?.definition.symbols ?? []
  const wereNamed = new Set(before.flatMap(({ raw, name }) => (name === undefined ? [] : raw)))
  const nameOf = cleanNames(definition)
  return definition.symbols.flatMap((listed, index) => {
    if (listed.name === undefined && !wereNamed.has(listed.raw)) return []
    const name = nameOf(listed.raw)
    const had = shown.filter((symbol) => symbol.raw === listed.raw && symbol.name !== name)
    return had.map((symbol) => ({ had: symbol, name, index }))
  })
}
