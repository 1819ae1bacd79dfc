import type { Clock } from '../../../ports/clock.ts'
import type { Administration, ServerQueries } from '../exec.ts'
import type { TableNames } from './tables.ts'

const listedDeadlineMs = 2_000
const pollMs = 20

export interface MakingDeps {
  readonly names: TableNames
  readonly admin: Administration
  readonly clock: Clock
}

/**
 * Creates a table completely or not at all; does nothing where it exists. QuestDB writes the files of a new table one
 * after another. When it is killed between two of them, "if not exists" finds the broken table afterwards. No row, no
 * `RESUME WAL` and no restart repairs it. So the table is created under an unused name and then renamed, which is one
 * step.
 */
export async function makeTable(
  table: string,
  create: (name: string) => string,
  { names, admin, clock }: MakingDeps,
): Promise<void> {
  if ((await listTables(admin)).includes(table)) return
  const draft = names.draft(clock.randomHex(8))
  const drop = (): Promise<unknown> => admin.exec(`DROP TABLE IF EXISTS '${draft}'`)
  try {
    await admin.exec(create(draft))
    await admin.exec(`RENAME TABLE '${draft}' TO '${table}'`)
  } catch (cause) {
    // Another process was first, or only the answer was lost.
    const exists = await isListed(table, admin, clock)
    // `fxd doctor` reports a draft that is left here.
    await drop().catch(() => undefined)
    if (!exists) throw cause
  }
}

/** A name in use is not listed until its renaming has ended. */
async function isListed(table: string, admin: ServerQueries, clock: Clock): Promise<boolean> {
  const end = clock.monotonicMs() + listedDeadlineMs
  while (!(await listTables(admin)).includes(table)) {
    if (clock.monotonicMs() >= end) return false
    await clock.sleep(pollMs)
  }
  return true
}

/** It does not read `tables()`: that lacks most tables after a start of the server, and history would answer "no data". */
export const listingTables = 'SELECT table_name FROM all_tables()'

export const listTables = async (admin: ServerQueries): Promise<readonly string[]> =>
  (await admin.exec(listingTables)).map(([table]) => String(table))
