import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { StoreTable, StoreTables } from '../../ports/store-tables.ts'
import { failedPrecondition, notFound } from './refusal.ts'

interface TableStores {
  readonly tables?: StoreTables
}

/** Uses tables as they are; without names all that were replaced. */
export async function acceptTables(
  { tables: names }: { readonly tables: readonly string[] },
  stores: TableStores,
): Promise<{ readonly accepted: string[]; readonly missing: string[] }> {
  const tables = tablesOf(stores)
  const all = await tables.list()
  const chosen =
    names.length === 0
      ? all.filter(({ state }) => state === 'replaced')
      : names.map((name) => mustFind(name, all))
  const gone = chosen.find(({ state }) => state === 'missing')
  if (gone)
    throw failedPrecondition(
      `The table ${gone.name} is missing: restore it first, or refill it from the collectors with "fxd store refill ${gone.name}".`,
    )
  for (const { name } of chosen) await refuseUnfit(name, tables)
  const accepted = chosen.map(({ name }) => name)
  await tables.accept(accepted)
  return { accepted, missing: all.flatMap(({ name, state }) => (state === 'missing' ? [name] : [])) }
}

export async function refillTable({ table }: { readonly table: string }, stores: TableStores): Promise<void> {
  const tables = tablesOf(stores)
  const { name, canBeRefilled } = mustFind(table, await tables.list())
  if (!canBeRefilled)
    throw failedPrecondition(
      `${name} has the keys and the feeds, which no collector has: restore it from a copy.`,
    )
  await refuseUnfit(name, tables)
  await tables.refill(name)
}

async function refuseUnfit(table: string, tables: StoreTables): Promise<void> {
  const why = await tables.unfitness(table)
  if (why !== undefined) throw failedPrecondition(why)
}

function tablesOf({ tables }: TableStores): StoreTables {
  if (tables) return tables
  throw failedPrecondition(
    'This fxd has the embedded store, one file; only tables of QuestDB can be accepted.',
  )
}

function mustFind(name: string, all: readonly StoreTable[]): StoreTable {
  const found = all.find((table) => table.name === name)
  if (found) return found
  const known = all.map((table) => table.name)
  throw notFound(`The store knows no table ${show(name)}${didYouMean(name, known)}.`)
}
