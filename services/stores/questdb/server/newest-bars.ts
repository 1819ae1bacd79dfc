import type { FeedDefinition } from '../../../core/feed.ts'
import type { NewestHeld } from '../../../platform/examine-clocks.ts'
import type { Administration } from '../exec.ts'
import type { TableNames } from '../layout/tables.ts'
import { secondsOf } from '../read/times.ts'

/** The newest bar of each table that holds any. */
export async function newestBars(
  definitions: readonly FeedDefinition[],
  names: TableNames,
  admin: Administration,
): Promise<readonly NewestHeld[]> {
  const found: NewestHeld[] = []
  for (const [name] of await admin.exec('SELECT table_name FROM tables() ORDER BY table_name')) {
    const where = String(name)
    const holds = names.parseBars(where)
    const feed = holds && definitions.find(({ key }) => names.isOf(holds, key))
    if (holds === undefined || feed === undefined) continue
    // No row at all for an empty table.
    const [row] = await admin.exec(`SELECT max(ts)::long FROM '${where}'`)
    if (typeof row?.[0] !== 'number') continue
    found.push({ where, feed, resolution: holds.resolution, time: secondsOf(row[0]) })
  }
  return found
}
