import type { Bars } from '../../../core/bar.ts'
import type { FeedDefinition } from '../../../core/feed.ts'
import { feedNow, fixedOffset } from '../../../core/feed-clock.ts'
import type { Series } from '../../../core/series.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Administration } from '../exec.ts'
import { isForever, setTtl, timeToLive } from './statements.ts'
import type { TableNames } from './tables.ts'

/** A bar so far ahead of its feed's clock is no bar of this clock. */
const aheadSecondsMax = 86_400

/** Makes the retention of every table of bars that of its feed's definition; none where it sets none. */
export async function applyRetention(
  definitions: readonly FeedDefinition[],
  names: TableNames,
  admin: Administration,
): Promise<void> {
  const tables = await admin.exec('SELECT table_name, ttlValue, ttlUnit FROM tables()')
  for (const [name, value, unit] of tables) {
    const holds = names.parseBars(String(name))
    const definition = holds && definitions.find(({ key }) => names.isOf(holds, key))
    if (holds === undefined || definition === undefined) continue
    const wanted = timeToLive(holds.resolution, definition.retention[holds.resolution])
    const isSo =
      wanted === undefined ? isForever(value, unit) : wanted.value === value && wanted.unit === unit
    if (!isSo) await admin.exec(setTtl(String(name), holds.resolution, wanted))
  }
}

/**
 * QuestDB counts retention from the newest bar of a table: one bar with a time of another clock would
 * take all others with it. So it is refused here too, whatever let it pass before.
 */
export function refuseOtherClock(
  { symbol, resolution }: Series,
  { time }: Bars,
  definition: FeedDefinition | undefined,
  clock: Clock,
): void {
  if (definition?.retention[resolution] === undefined) return
  const now = feedNow(clock.utcMs(), fixedOffset(definition.clock), undefined)
  if (now === undefined) return
  for (let i = 0; i < time.length; i++) {
    if ((time[i] as number) > now + aheadSecondsMax)
      throw new RangeError(
        `A bar of ${symbol} at ${resolution} has the time ${time[i]}, but its feed's clock shows ${now}: with the retention of this feed it would remove the bars before it.`,
      )
  }
}
