import type { Clock } from '../../../ports/clock.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables } from './make-table.ts'
import type { TableNames } from './tables.ts'

/** Hundreds of tables took 80 ms; a table that never gets there must not keep the others away. */
const listedDeadlineMs = 5_000
const pollMs = 20

/**
 * Waits until a server that was just started tells the state of our tables: it reads them one after the
 * other, and until then `tables()` is silent about the rest, as if they were gone.
 */
export async function untilListed(names: TableNames, admin: ServerQueries, clock: Clock): Promise<void> {
  const end = clock.monotonicMs() + listedDeadlineMs
  const wanted = (await listTables(admin)).filter((table) => names.isOurs(table))
  for (;;) {
    const told = new Set((await admin.exec('SELECT table_name FROM tables()')).map(([table]) => table))
    if (wanted.every((table) => told.has(table)) || clock.monotonicMs() >= end) return
    await clock.sleep(pollMs)
  }
}
