import { type Finding, passed, problem, warning } from '../../../doctor/finding.ts'
import type { Administration } from '../exec.ts'
import { listTables } from '../layout/make-table.ts'
import { changedColumns, creating } from '../layout/table-form.ts'
import type { TableNames } from '../layout/tables.ts'
import { handlesPerTable, keptPartitionsMax, limitIn, memoryMaps, recommendedLimit } from './memory-maps.ts'

/** More tables exhaust the memory and file handles of a server of usual size. */
const tablesMax = 300

/** Findings about suspended and altered tables, parked rows, and the file handles and memory maps that the tables need. */
export async function examineTables(names: TableNames, admin: Administration): Promise<readonly Finding[]> {
  const all = await listTables(admin)
  const ours = all.filter((table) => names.isOurs(table))
  return [
    ...(await suspended(names, admin)),
    ...(await halfMade(all, names, admin)),
    ...(await altered(ours, names, admin)),
    ...(ours.includes(names.parked) ? await parked(names, admin) : []),
    ...(await budget(ours.length, all.length, admin)),
  ]
}

async function suspended(names: TableNames, admin: Administration): Promise<readonly Finding[]> {
  const rows = await admin.exec('SELECT name, errorTag, errorMessage FROM wal_tables() WHERE suspended')
  const found = rows
    .filter(([table]) => names.isOurs(String(table)))
    .map(([table, tag, message]) => {
      const reason = [tag, message].filter((each) => each !== null && each !== '').join(': ')
      // The statement is for suspended tables only: on any other it corrupts the server's count of suspended tables.
      const resume = `ALTER TABLE '${String(table)}' RESUME WAL`
      const state = `${String(table)} is suspended: it accepts rows and does not show them`
      // The same rule as in `SuspendedTables`: fxd does not resume a table without a reason.
      return reason === ''
        ? problem(
            'suspended table',
            `${state} (no reason given)`,
            `somebody suspended it; when the work is finished, run: ${resume}`,
          )
        : problem(
            'suspended table',
            `${state} (${reason})`,
            `remove the cause (often a full disk); fxd tries to resume the table every 30 s, or run: ${resume}`,
          )
    })
  return found.length > 0 ? found : [passed('suspended tables', 'none')]
}

/** Tables that QuestDB was creating when it was killed: they accept no rows, and only removing them helps. */
async function halfMade(
  all: readonly string[],
  names: TableNames,
  admin: Administration,
): Promise<readonly Finding[]> {
  const rows = await admin.exec('SELECT name, sequencerTxn FROM wal_tables()')
  const whole = new Set(rows.flatMap(([table, txn]) => (Number(txn) >= 0 ? [String(table)] : [])))
  const broken: Finding[] = []
  for (const table of all.filter((each) => names.isOurs(each) && !whole.has(each))) {
    const [row] = await admin.exec(`SELECT count() FROM '${table}'`).catch(() => [])
    broken.push(Number(row?.[0] ?? 0) === 0 ? unfinished(table) : withoutWal(table, Number(row?.[0])))
  }
  const left = all.filter((table) => names.isDraft(table))
  if (left.length === 0) return broken
  const drop = left.map((table) => `DROP TABLE '${table}'`).join('; ')
  return [
    ...broken,
    warning(
      'left-over tables',
      `${left.length} that were never finished`,
      `if no fxd is starting, run: ${drop}`,
    ),
  ]
}

const unfinished = (table: string): Finding =>
  problem(
    'half-made table',
    `${table} accepts no rows: QuestDB was killed while it created the table`,
    `run: DROP TABLE '${table}' (it removes the table although it answers with an error), then start fxd again`,
  )

const withoutWal = (table: string, rows: number): Finding =>
  problem(
    'table without WAL',
    `${table} accepts no rows and has ${rows}: it may be a copy that was not made by fxd's statement`,
    `do not drop it: "fxd store accept ${table}" prints the statements that make the right table from it (docs/backup.md)`,
  )

/** Tables whose columns somebody changed: they may reject rows, which wait then. */
async function altered(
  tables: readonly string[],
  names: TableNames,
  admin: Administration,
): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const table of tables.filter((each) => names.isRecorded(each)))
    for (const { name, type, isMissing } of await changedColumns(table, creating(table, names), admin))
      found.push(
        problem(
          'altered table',
          `${table} ${isMissing ? `has no column ${name}` : `has another type than ${type} in its column ${name}`}`,
          `run: ALTER TABLE '${table}' ${isMissing ? 'ADD COLUMN' : 'ALTER COLUMN'} ${name} ${isMissing ? '' : 'TYPE '}${type}`,
        ),
      )
  return found.length > 0 ? found : [passed('altered tables', 'none')]
}

/** Rows that an earlier fxd put aside because QuestDB rejected them. */
async function parked({ parked: table }: TableNames, admin: Administration): Promise<readonly Finding[]> {
  const [row] = await admin.exec(`SELECT count() FROM '${table}'`)
  const count = Number(row?.[0] ?? 0)
  if (count === 0) return []
  return [
    warning(
      'parked rows',
      `${count} rows that QuestDB rejected under an earlier fxd; history does not show them`,
      `look at them: SELECT * FROM '${table}'; when you need them no more, run: DROP TABLE '${table}'`,
    ),
  ]
}

/** Counts all tables of the server: it opens files for the tables of other services too. */
async function budget(ours: number, all: number, admin: Administration): Promise<readonly Finding[]> {
  const needed = all * handlesPerTable
  const files = limitIn(await admin.warnings(), 'TOO MANY OPEN FILES')
  const maps = await memoryMaps(admin)
  const setting = `set QDB_CAIRO_INACTIVE_READER_MAX_OPEN_PARTITIONS=${keptPartitionsMax} and restart QuestDB, or `
  const tables = `${ours} of at most ${tablesMax}`
  return [
    all > tablesMax
      ? warning(
          'tables',
          `${tables}, ${all} in the whole server`,
          'give QuestDB more memory, or use fewer buckets for new feeds',
        )
      : passed('tables', tables),
    judgeLimit(
      'file handles',
      `up to ${needed}`,
      needed,
      files,
      `start QuestDB with "ulimit -n ${limitFor(needed)}" (nofile)`,
    ),
    judgeLimit(
      'memory maps',
      `${maps.partitions} partitions need ${maps.needed}`,
      maps.needed,
      maps.limit,
      `${maps.kept > keptPartitionsMax ? setting : ''}run "sysctl -w vm.max_map_count=${limitFor(maps.needed)}" on QuestDB's machine`,
    ),
  ]
}

const limitFor = (needed: number): number => Math.max(recommendedLimit, 2 * needed)

function judgeLimit(
  about: string,
  counted: string,
  needed: number,
  limit: number | undefined,
  cure: string,
): Finding {
  const found = `${counted} of ${limit ?? `${recommendedLimit} or more`}`
  if (limit === undefined || 2 * needed <= limit) return passed(about, found)
  return needed > limit ? problem(about, found, cure) : warning(about, found, cure)
}
