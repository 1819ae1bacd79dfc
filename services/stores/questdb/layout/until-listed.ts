import type { Clock } from '../../../ports/clock.ts'
import type { ServerQueries } from '../exec.ts'
import { listTables } from './make-table.ts'
import type { TableNames } from './tables.ts'

/** Deadline of the wait: hundreds of tables took 80 ms. A table that is never listed must not block the others. */
const listedDeadlineMs = 5_000
const pollMs = 20

/**
 * Waits until a server that has just started lists our tables. It reads them one after another; until then `tables()`
 * omits the rest, as if they were gone.
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
