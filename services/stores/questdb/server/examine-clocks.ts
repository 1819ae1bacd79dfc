import type { FeedDefinition } from '../../../core/feed.ts'
import { feedNow, fixedOffset } from '../../../core/feed-clock.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Administration } from '../exec.ts'
import type { TableNames } from '../layout/tables.ts'
import { type Finding, fine, warning, wrong } from './finding.ts'

/** Bars are stored once they are closed: none is ahead of its feed's clock but by a clock's own error. */
const aheadSecondsMax = 300
/** Longer than any holiday: who has no minute for so long has no collector, or another clock. */
const behindSecondsMax = 10 * 86_400

interface Newest {
  readonly table: string
  readonly definition: FeedDefinition
  /** Seconds by which the newest bar is ahead of the feed's clock. */
  readonly aheadSeconds: number
  readonly isOfMinutes: boolean
}

/** Compares the newest bar of each table with the clock of its feed. */
export async function examineClocks(
  definitions: readonly FeedDefinition[],
  names: TableNames,
  admin: Administration,
  clock: Clock,
): Promise<readonly Finding[]> {
  const newest = await newestBars(definitions, names, admin, clock)
  const odd = newest.flatMap(judge)
  return odd.length > 0
    ? odd
    : [fine('clocks', `${newest.length} tables agree with the clocks of their feeds`)]
}

function judge({ table, definition, aheadSeconds, isOfMinutes }: Newest): readonly Finding[] {
  if (aheadSeconds > aheadSecondsMax)
    return [
      wrong(
        'clock',
        `the newest bar of ${table} is ${inWords(aheadSeconds)} ahead of the clock of ${definition.key}`,
        `check spec.clock of the Feed ${definition.name} (utc = bar time + offsetSeconds) and the clock of this machine`,
      ),
    ]
  if (isOfMinutes && aheadSeconds < -behindSecondsMax)
    return [
      warning(
        'clock',
        `the newest bar of ${table} is ${inWords(-aheadSeconds)} behind the clock of ${definition.key}`,
        `check the collector of ${definition.key}, and spec.clock of the Feed ${definition.name}`,
      ),
    ]
  return []
}

async function newestBars(
  definitions: readonly FeedDefinition[],
  names: TableNames,
  admin: Administration,
  clock: Clock,
): Promise<readonly Newest[]> {
  const found: Newest[] = []
  for (const [name] of await admin.exec('SELECT table_name FROM tables() ORDER BY table_name')) {
    const table = String(name)
    const holds = names.parseBars(table)
    const definition = holds && definitions.find(({ key }) => names.isOf(holds, key))
    if (holds === undefined || definition === undefined) continue
    const now = feedNow(clock.utcMs(), fixedOffset(definition.clock), undefined)
    // No row at all for an empty table.
    const [row] = await admin.exec(`SELECT max(ts)::long FROM '${table}'`)
    if (now === undefined || typeof row?.[0] !== 'number') continue
    const aheadSeconds = Math.round(row[0] / 1_000_000) - now
    found.push({ table, definition, aheadSeconds, isOfMinutes: holds.resolution === '1' })
  }
  return found
}

function inWords(seconds: number): string {
  if (seconds >= 2 * 86_400) return `${Math.round(seconds / 86_400)} days`
  return seconds >= 7_200 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 60)} minutes`
}
