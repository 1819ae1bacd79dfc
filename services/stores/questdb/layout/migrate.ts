import { WrongServer } from '../../../core/failure.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables, type MakingDeps, makeTable } from './make-table.ts'
import { createParked, createRegistry, createSchema, createUsageDays, numberWindows } from './statements.ts'
import type { TableNames } from './tables.ts'

/** Grows with every change of the layout that an older fxd would misread. */
export const schemaVersion = 2

/** One step per version; each may run again, and beside another that runs it. */
const steps: readonly ((deps: MakingDeps) => Promise<void>)[] = [
  async (deps) => {
    await makeTable(deps.names.registry, createRegistry, deps)
    await makeTable(deps.names.parked, createParked, deps)
  },
  async (deps) => {
    const { names, admin } = deps
    await makeTable(names.usageDays, createUsageDays, deps)
    for (const table of await listTables(admin))
      if (names.isWindows(table)) for (const statement of numberWindows(table)) await admin.exec(statement)
  },
]

/**
 * Makes or changes what is there to this version. Two that start at once do the same things, each of
 * which is done once. Rejects when a newer fxd was here.
 */
export async function migrate(deps: MakingDeps): Promise<void> {
  const { names, admin } = deps
  await makeTable(names.schema, createSchema, deps)
  await settled(names, admin)
  const found = await storedVersion(names, admin)
  refuseNewer(found, names)
  for (let version = found; version < schemaVersion; version++) {
    await steps[version]?.(deps)
    await admin.exec(`INSERT INTO '${names.schema}' VALUES (0, ${version + 1})`)
  }
  if (found < schemaVersion) await settled(names, admin)
}

/** A server that was just started shows late what it had committed before. */
const settled = async (names: TableNames, admin: ServerQueries): Promise<void> =>
  void (await admin.exec(`SELECT wait_wal_table('${names.schema}')`))

/** The layout that the tables have; 0 while none was made. */
export async function storedVersion(names: TableNames, admin: ServerQueries): Promise<number> {
  // With the count beside it, or an empty table would answer with no row at all.
  const [row] = await admin.exec(`SELECT max(version) AS version, count() FROM '${names.schema}'`)
  return Number(row?.[0] ?? 0)
}

/** For a server that was left and found again: it must be as it was left. */
export async function requireLayout(names: TableNames, admin: ServerQueries): Promise<void> {
  const isThere = (await listTables(admin)).includes(names.schema)
  if (isThere) await settled(names, admin)
  const found = isThere ? await storedVersion(names, admin) : 0
  refuseNewer(found, names)
  if (found < schemaVersion)
    throw new WrongServer(
      found === 0
        ? `There is no ${names.schema} any more: this is another QuestDB, or it lost its data. Restore it, or start fxd again to begin with an empty one.`
        : `The schema version of ${names.schema} is ${found} instead of ${schemaVersion}: an older backup, perhaps. Start fxd again: it changes the tables.`,
    )
}

/** For a process that makes no tables itself: rejects until another one has. */
export async function awaitLayout(names: TableNames, admin: ServerQueries): Promise<void> {
  const found = await storedVersion(names, admin)
  refuseNewer(found, names)
  if (found < schemaVersion)
    throw new Error(`The schema version of ${names.schema} is ${found}; an ingest makes it ${schemaVersion}.`)
}

function refuseNewer(found: number, names: TableNames): void {
  if (found > schemaVersion)
    throw new WrongServer(
      `The schema version of ${names.schema} is ${found}; this fxd knows ${schemaVersion}. Start the newer fxd.`,
    )
}
