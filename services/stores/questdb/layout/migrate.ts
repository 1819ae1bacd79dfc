import type { Administration } from '../exec.ts'
import { WrongServer } from '../server/wrong-server.ts'
import { createParked, createRegistry, createSchema, createUsageDays } from './statements.ts'
import type { TableNames } from './tables.ts'

/** Grows with every change of the layout that an older fxd would misread. */
export const schemaVersion = 2

/** One step per version; each may run again, and beside another that runs it. */
const steps: readonly ((names: TableNames, admin: Administration) => Promise<void>)[] = [
  async (names, admin) => {
    await admin.exec(createRegistry(names.registry))
    await admin.exec(createParked(names.parked))
  },
  async (names, admin) => void (await admin.exec(createUsageDays(names.usageDays))),
]

/**
 * Makes or changes what is there to this version. Two that start at once do the same things, each of
 * which is done once. Rejects when a newer fxd was here.
 */
export async function migrate(names: TableNames, admin: Administration): Promise<void> {
  await admin.exec(createSchema(names.schema))
  const [row] = await admin.exec(`SELECT max(version) AS version, count() FROM '${names.schema}'`)
  const found = Number(row?.[0] ?? 0)
  if (found > schemaVersion)
    throw new WrongServer(
      `The schema version of ${names.schema} is ${found}; this fxd knows ${schemaVersion}. Start the newer fxd.`,
    )
  for (let version = found; version < schemaVersion; version++) {
    await steps[version]?.(names, admin)
    await admin.exec(`INSERT INTO '${names.schema}' VALUES (0, ${version + 1})`)
  }
}
