import type { Administration } from '../exec.ts'

/**
 * Why fxd could not write to a table, and how to make the right one; `undefined`: it can. A plain copy by SQL has no WAL.
 * `create` is fxd's own statement for the table.
 */
export async function unfitness(
  table: string,
  create: (name: string) => string,
  admin: Administration,
): Promise<string | undefined> {
  const statement = create(table).replace(/\s+/g, ' ').trim()
  const [row] = await admin.exec(
    `SELECT walEnabled, dedup, partitionBy FROM tables() WHERE table_name = '${table}'`,
  )
  if (row === undefined) return undefined
  const [walEnabled, dedup, unit] = row
  const wanted = /PARTITION BY (\w+)/.exec(statement)?.[1]
  const lacks = [
    ...(walEnabled === true ? [] : ['WAL']),
    ...(dedup === true || !statement.includes('DEDUP') ? [] : ['deduplication']),
    ...(unit === wanted ? [] : [`partitions by ${wanted}`]),
  ]
  if (lacks.length === 0) return undefined
  // The columns of an older table may have another order.
  const names = await admin.exec(`SELECT "column" FROM table_columns('${table}')`)
  const columns = names.map(([name]) => String(name)).join(', ')
  // A name without fxd's prefix: it is no table of fxd.
  const copy = `copy_of_${table}`
  return (
    `${table} lacks ${lacks.join(', ')}: it was not made by fxd's statement, and writes to it would fail. ` +
    `Cure, in QuestDB: RENAME TABLE '${table}' TO '${copy}'; ${statement}; ` +
    `INSERT INTO '${table}' (${columns}) SELECT ${columns} FROM '${copy}'; then accept it (docs/backup.md).`
  )
}
