import type { Administration } from '../exec.ts'
import { WrongServer } from '../server/wrong-server.ts'
import { createParked, createRegistry, createSchema, createUsageDays, numberWindows } from './statements.ts'
import type { TableNames } from './tables.ts'

/** Grows with every change of the layout that an older fxd would misread. */
export const schemaVersion = 2

/** One step per version; each may run again, and beside another that runs it. */
const steps: readonly ((names: TableNames, admin: Administration) => Promise<void>)[] = [
  async (names, admin) => {
    await admin.exec(createRegistry(names.registry))
    await admin.exec(createParked(names.parked))
  },
  async (names, admin) => {
    await admin.exec(createUsageDays(names.usageDays))
    for (const [table] of await admin.exec('SELECT table_name FROM tables()'))
      if (names.isWindows(String(table)))
        for (const statement of numberWindows(String(table))) await admin.exec(statement)
  },
]

/**
 * Makes or changes what is there to this version. Two that start at once do the same things, each of
 * which is done once. Rejects when a newer fxd was here.
 */
export async function migrate(names: TableNames, admin: Administration): Promise<void> {
  await admin.exec(createSchema(names.schema))
  await settled(names, admin)
  const found = await storedVersion(names, admin)
  refuseNewer(found, names)
  for (let version = found; version < schemaVersion; version++) {
    await steps[version]?.(names, admin)
    await admin.exec(`INSERT INTO '${names.schema}' VALUES (0, ${version + 1})`)
  }
  if (found < schemaVersion) await settled(names, admin)
}

/** A server that was just started shows late what it had committed before. */
const settled = async (names: TableNames, admin: Administration): Promise<void> =>
  void (await admin.exec(`SELECT wait_wal_table('${names.schema}')`))

/** The layout that the tables have; 0 while none was made. */
export async function storedVersion(names: TableNames, admin: Administration): Promise<number> {
  // With the count beside it, or an empty table would answer with no row at all.
  const [row] = await admin.exec(`SELECT max(version) AS version, count() FROM '${names.schema}'`)
  return Number(row?.[0] ?? 0)
}

/** For a server that was left and found again: it must be as it was left. */
export async function requireLayout(names: TableNames, admin: Administration): Promise<void> {
  const there = await admin.exec(`SELECT table_name FROM tables() WHERE table_name = '${names.schema}'`)
  if (there.length > 0) await settled(names, admin)
  const found = there.length === 0 ? 0 : await storedVersion(names, admin)
  refuseNewer(found, names)
  if (found < schemaVersion)
    throw new WrongServer(
      found === 0
        ? `There is no ${names.schema} any more: this is another QuestDB, or it lost its data. Restore it, or start fxd again to begin with an empty one.`
        : `The schema version of ${names.schema} is ${found} instead of ${schemaVersion}: an older backup, perhaps. Start fxd again: it changes the tables.`,
    )
}

/** For a process that makes no tables itself: rejects until another one has. */
export async function awaitLayout(names: TableNames, admin: Administration): Promise<void> {
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
