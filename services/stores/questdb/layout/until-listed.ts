import type { Clock } from '../../../ports/clock.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables } from './make-table.ts'
import type { TableNames } from './tables.ts'

/** Deadline of the wait: hundreds of tables took 80 ms. A table that is never listed must not block the others. */
const listedDeadlineMs = 5_000
const pollMs = 20

/**
 * Waits until `tables()` lists all our tables. A server that has just started reads them one after another, and omits
 * the rest as if they were gone. Any server omits a table that it has just renamed.
 */
export async function untilListed(names: TableNames, admin: ServerQueries, clock: Clock): Promise<void> {
  const end = clock.monotonicMs() + listedDeadlineMs
  const wanted = (await listTables(admin)).filter((table) => names.isOurs(table))
  for (;;) {
    const listed = new Set((await admin.exec('SELECT table_name FROM tables()')).map(([table]) => table))
    if (wanted.every((table) => listed.has(table)) || clock.monotonicMs() >= end) return
    await clock.sleep(pollMs)
  }
}
