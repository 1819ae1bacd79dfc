import type { Administration } from '../exec.ts'
import type { TableNames } from '../layout/tables.ts'
import { type Finding, fine, warning, wrong } from './finding.ts'

/** More of them exhaust the memory and the handles of a server of usual size. */
const tablesMax = 300
/** Measured with one writer's connection. */
const handlesPerTable = 54

/** Tables that show nothing of what they take, rows that were set aside, and how many tables there are. */
export async function examineTables(names: TableNames, admin: Administration): Promise<readonly Finding[]> {
  const ours = (await admin.exec('SELECT table_name FROM tables()'))
    .map(([table]) => String(table))
    .filter((table) => names.isOurs(table))
  return [
    ...(await suspended(names, admin)),
    ...(ours.includes(names.parked) ? [await parked(names, admin)] : []),
    budget(ours.length),
  ]
}

async function suspended(names: TableNames, admin: Administration): Promise<readonly Finding[]> {
  const rows = await admin.exec('SELECT name, errorTag, errorMessage FROM wal_tables() WHERE suspended')
  const found = rows
    .filter(([table]) => names.isOurs(String(table)))
    .map(([table, tag, message]) => {
      const reason = [tag, message].filter((each) => each !== null && each !== '').join(': ')
      // Only on a suspended table: elsewhere it confuses the server's own count of them.
      const resume = `ALTER TABLE '${String(table)}' RESUME WAL`
      return wrong(
        'suspended table',
        `${String(table)} takes bars and shows none (${reason === '' ? 'no reason given' : reason})`,
        `remove the reason (often a full disk), then run: ${resume}`,
      )
    })
  return found.length > 0 ? found : [fine('suspended tables', 'none')]
}

async function parked({ parked: table }: TableNames, admin: Administration): Promise<Finding> {
  const [row] = await admin.exec(`SELECT count() FROM '${table}'`)
  const count = Number(row?.[0] ?? 0)
  return count === 0
    ? fine('parked rows', 'none')
    : warning('parked rows', `${count} rows were refused by QuestDB`, `report them: SELECT * FROM '${table}'`)
}

function budget(tables: number): Finding {
  const handles = tables * handlesPerTable
  const found = `${tables} of at most ${tablesMax}, up to ${handles} file handles`
  return tables > tablesMax
    ? warning('tables', found, `give QuestDB more memory and a limit of ${2 * handles} open files (nofile)`)
    : fine('tables', found)
}
