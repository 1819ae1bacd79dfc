import type { ServerQueries } from '../exec.ts'
import { createBars, createRegistry, createUsageDays, createWindows, type TimeToLive } from './statements.ts'
import type { TableNames } from './tables.ts'

/**
 * Why fxd could not write to a table, and how to make the right one; `undefined`: it can. A plain copy by SQL has no WAL.
 * `create` is fxd's own statement for the table.
 */
export async function unfitness(
  table: string,
  create: (name: string) => string,
  admin: ServerQueries,
): Promise<string | undefined> {
  const statement = create(table).replace(/\s+/g, ' ').trim()
  const [row] = await admin.exec(
    `SELECT walEnabled, dedup, partitionBy FROM tables() WHERE table_name = '${table}'`,
  )
  if (row === undefined) return undefined
  const [walEnabled, dedup, unit] = row
  const changed = await changedColumns(table, create, admin)
  const wanted = /PARTITION BY (\w+)/.exec(statement)?.[1]
  const lacks = [
    ...(walEnabled === true ? [] : ['WAL']),
    ...(dedup === true || !statement.includes('DEDUP') ? [] : ['deduplication']),
    ...(unit === wanted ? [] : [`partitions by ${wanted}`]),
    ...changed.map(({ name, type }) => `a column ${name} of type ${type}`),
  ]
  if (lacks.length === 0) return undefined
  // The columns of an older table may have another order.
  const names = await admin.exec(`SELECT "column" FROM table_columns('${table}')`)
  const columns = names.map(([name]) => String(name)).join(', ')
  // A name without fxd's prefix: it is not a table of fxd.
  const copy = `copy_of_${table}`
  return (
    `${table} lacks ${lacks.join(', ')}: it was not made by fxd's statement, and writes to it would fail. ` +
    `Cure, in QuestDB: RENAME TABLE '${table}' TO '${copy}'; ${statement}; ` +
    `INSERT INTO '${table}' (${columns}) SELECT ${columns} FROM '${copy}'; then accept it (docs/backup.md).`
  )
}

/** The columns of fxd's statement that the table lacks, or has with another type. */
export async function changedColumns(
  table: string,
  create: (name: string) => string,
  admin: ServerQueries,
): Promise<readonly { readonly name: string; readonly type: string; readonly isMissing: boolean }[]> {
  const rows = await admin.exec(`SELECT "column", type FROM table_columns('${table}')`)
  const types = new Map(rows.map(([name, type]) => [String(name), String(type)]))
  const [, columns = ''] = /\(([^()]*)\) TIMESTAMP\(/.exec(create(table)) ?? []
  return [...columns.matchAll(/(\w+) ([A-Z]+)/g)].flatMap(([, name = '', type = '']) =>
    types.get(name) === type ? [] : [{ name, type, isMissing: !types.has(name) }],
  )
}

/** fxd's own statement for a table that is recorded. */
export function creating(table: string, names: TableNames, ttl?: TimeToLive): (name: string) => string {
  const holds = names.parseBars(table)
  if (holds) return (name) => createBars(name, holds.resolution, ttl)
  if (names.isWindows(table)) return createWindows
  return table === names.registry ? createRegistry : createUsageDays
}
