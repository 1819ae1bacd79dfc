import type { Bars } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { feedNow } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Administration } from '../exec.ts'
import { secondsOf } from '../times.ts'
import { isForever, isTtl, setTtl, type TimeToLive, timeToLive } from './statements.ts'
import type { TableNames } from './tables.ts'
import { untilListed } from './until-listed.ts'

/** A bar so far ahead of its feed's clock is no bar of this clock. */
const aheadSecondsMax = 86_400

/** What is known of a feed's clock now. */
export interface TimedFeed {
  readonly definition: FeedDefinition
  /** utc = feed + offset; `undefined`: not known yet. */
  readonly offsetSeconds: number | undefined
}

/**
 * What its tables are to keep; `undefined`: everything. While the clock is unknown nothing is dropped:
 * nobody could tell a bar of this clock from one of another, and one of those drops all.
 */
export const retentionOf = (
  { definition, offsetSeconds }: TimedFeed,
  resolution: Resolution,
): TimeToLive | undefined =>
  offsetSeconds === undefined ? undefined : timeToLive(resolution, definition.retention[resolution])

/** Whether a retention is set that cannot be applied yet. */
export const isRetentionPending = ({ definition, offsetSeconds }: TimedFeed): boolean =>
  offsetSeconds === undefined && Object.keys(definition.retention).length > 0

export interface RetentionDeps {
  readonly names: TableNames
  readonly admin: Administration
  readonly clock: Clock
  readonly log: Log
}

/** Makes the retention of every table of bars that of its feed's definition; none where it sets none. */
export async function applyRetention(
  feeds: readonly TimedFeed[],
  { names, admin, clock, log }: RetentionDeps,
): Promise<void> {
  for (const feed of feeds)
    if (isRetentionPending(feed))
      log.warn(
        { feed: feed.definition.key },
        'the clock of this feed is not known yet: its retention is not applied, and nothing of it is deleted',
      )
  await untilListed(names, admin, clock)
  const tables = await admin.exec('SELECT table_name, ttlValue, ttlUnit FROM tables()')
  for (const [name, value, unit] of tables) {
    const table = String(name)
    const holds = names.parseBars(table)
    const feed = holds && feeds.find(({ definition }) => names.isOf(holds, definition.key))
    if (holds === undefined || feed === undefined) continue
    const wanted = retentionOf(feed, holds.resolution)
    if (wanted === undefined ? isForever(value, unit) : isTtl(wanted, value, unit)) continue
    if (wanted !== undefined && (await holdsOtherClock(table, feed, admin, clock)))
      log.error(
        { feed: feed.definition.key, table },
        "the newest bar of a table is ahead of its feed's clock: with its retention it would remove the bars before it, so the table keeps everything; see fxd doctor",
      )
    else await admin.exec(setTtl(table, holds.resolution, wanted))
  }
}

/** Taken while the clock was unknown, or by another definition of it. */
async function holdsOtherClock(
  table: string,
  feed: TimedFeed,
  admin: Administration,
  clock: Clock,
): Promise<boolean> {
  const now = feedNow(clock.utcMs(), feed.offsetSeconds, undefined)
  // No row at all for an empty table.
  const [row] = await admin.exec(`SELECT max(ts)::long FROM '${table}'`)
  return now === undefined || (typeof row?.[0] === 'number' && secondsOf(row[0]) > now + aheadSecondsMax)
}

/**
 * QuestDB counts retention from the newest bar of a table: one bar with a time of another clock would
 * take all others with it. So it is refused here too, whatever let it pass before.
 */
export function refuseOtherClock(
  { symbol, resolution }: Series,
  { time }: Bars,
  feed: TimedFeed | undefined,
  clock: Clock,
): void {
  if (feed?.definition.retention[resolution] === undefined) return
  // Unknown: then the tables keep everything.
  const now = feedNow(clock.utcMs(), feed.offsetSeconds, undefined)
  if (now === undefined) return
  for (let i = 0; i < time.length; i++) {
    if ((time[i] as number) > now + aheadSecondsMax)
      throw new RangeError(
        `A bar of ${symbol} at ${resolution} has the time ${time[i]}, but its feed's clock shows ${now}: with the retention of this feed it would remove the bars before it.`,
      )
  }
}
