import type { NewestStored } from '../../../doctor/examine-clocks.ts'
import type { Administration } from '../exec.ts'
import { listTables } from '../layout/make-table.ts'
import type { TimedFeed } from '../layout/retention.ts'
import type { TableNames } from '../layout/tables.ts'
import { secondsOf } from '../times.ts'

export async function newestBars(
  feeds: readonly TimedFeed[],
  names: TableNames,
  admin: Administration,
): Promise<readonly NewestStored[]> {
  const found: NewestStored[] = []
  for (const where of (await listTables(admin)).toSorted()) {
    const holds = names.parseBars(where)
    const feed = holds && feeds.find(({ definition }) => names.isOf(holds, definition.key))
    if (holds === undefined || feed === undefined) continue
    const { definition, offsetSeconds } = feed
    // An empty table has no row.
    const [row] = await admin.exec(`SELECT max(ts)::long FROM '${where}'`)
    if (typeof row?.[0] !== 'number') continue
    found.push({
      where,
      feed: definition,
      offsetSeconds,
      resolution: holds.resolution,
      time: secondsOf(row[0]),
    })
  }
  return found
}
