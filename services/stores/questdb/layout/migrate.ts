import { WrongServer } from '../../../core/failure.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables, type MakingDeps, makeTable } from './make-table.ts'
import { createRegistry, createSchema, createTables, createUsageDays, numberWindows } from './statements.ts'
import type { TableNames } from './tables.ts'

/** Increased with every change of the layout that an older fxd would misread. */
export const schemaVersion = 2

/** One step per version. Each step may run again, and concurrently in another process. */
const steps: readonly ((deps: MakingDeps) => Promise<void>)[] = [
  (deps) => makeTable(deps.names.registry, createRegistry, deps),
  async (deps) => {
    const { names, admin } = deps
    await makeTable(names.usageDays, createUsageDays, deps)
    for (const table of await listTables(admin))
      if (names.isWindows(table)) for (const statement of numberWindows(table)) await admin.exec(statement)
  },
]

/**
 * Creates the tables or changes them to this version. Two processes may do this at the same time; each step has its effect
 * once. Rejects when the tables are of a newer fxd.
 */
export async function migrate(deps: MakingDeps): Promise<void> {
  const { names, admin } = deps
  await makeTable(names.schema, createSchema, deps)
  // Earlier versions do not know it, so it is not a step.
  await makeTable(names.tables, createTables, deps)
  await settled(names, admin)
  const found = await storedVersion(names, admin)
  refuseNewer(found, names)
  for (let version = found; version < schemaVersion; version++) {
    await steps[version]?.(deps)
    await admin.exec(`INSERT INTO '${names.schema}' (ts, version) VALUES (0, ${version + 1})`)
  }
  if (found < schemaVersion) await settled(names, admin)
}

/** Waits until commits to the schema table are readable: a server that has just started shows them late. */
export const settled = async (names: TableNames, admin: ServerQueries): Promise<void> =>
  void (await admin.exec(`SELECT wait_wal_table('${names.schema}')`))

/** The version of the tables' layout; 0 while there is none. */
export async function storedVersion(names: TableNames, admin: ServerQueries): Promise<number> {
  // `count()` makes an empty table answer with a row too.
  const [row] = await admin.exec(`SELECT max(version) AS version, count() FROM '${names.schema}'`)
  return Number(row?.[0] ?? 0)
}

/** Checks a server after a lost connection: its layout must be unchanged. */
export async function requireLayout(names: TableNames, admin: ServerQueries): Promise<void> {
  const exists = (await listTables(admin)).includes(names.schema)
  if (exists) await settled(names, admin)
  const found = exists ? await storedVersion(names, admin) : 0
  refuseNewer(found, names)
  if (found < schemaVersion)
    throw new WrongServer(
      found === 0
        ? `There is no ${names.schema} any more: this is another QuestDB, or it lost its data. Do not restart ingest on it: stop all processes of fxd, restore a backup, start them again (docs/backup.md).`
        : `The schema version of ${names.schema} is ${found} instead of ${schemaVersion}: an older backup, perhaps. Start fxd again: it changes the tables.`,
    )
}

/** For a process that creates no tables: rejects until another process has created them. */
export async function awaitLayout(names: TableNames, admin: ServerQueries): Promise<void> {
  const found = await storedVersion(names, admin)
  refuseNewer(found, names)
  if (found < schemaVersion)
    throw new Error(
      `The schema version of ${names.schema} is ${found}; waiting for an ingest to set ${schemaVersion}.`,
    )
}

function refuseNewer(found: number, names: TableNames): void {
  if (found > schemaVersion)
    throw new WrongServer(
      `The schema version of ${names.schema} is ${found}; this fxd knows ${schemaVersion}. Start the newer fxd.`,
    )
}
