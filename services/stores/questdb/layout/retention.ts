import type { Bars } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { feedNow } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { Log } from '../../../platform/log/log.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Administration } from '../exec.ts'
import { secondsOf } from '../times.ts'
import type { MakingDeps } from './make-table.ts'
import { isForever, isTtl, setTtl, type TimeToLive, timeToLive } from './statements.ts'
import { untilListed } from './until-listed.ts'

/** Bars further ahead of their feed's clock, in seconds, belong to another clock. */
const aheadSecondsMax = 86_400

export interface TimedFeed {
  readonly definition: FeedDefinition
  /** utc = feed + offset; `undefined`: not known yet. */
  readonly offsetSeconds: number | undefined
}

/**
 * The retention of a feed's tables; `undefined`: keep everything. While the clock is unknown nothing is deleted: a bar
 * of another clock cannot be recognised, and one such bar would delete all others.
 */
export const retentionOf = (
  { definition, offsetSeconds }: TimedFeed,
  resolution: Resolution,
): TimeToLive | undefined =>
  offsetSeconds === undefined ? undefined : timeToLive(resolution, definition.retention[resolution])

export const isRetentionPending = ({ definition, offsetSeconds }: TimedFeed): boolean =>
  offsetSeconds === undefined && Object.keys(definition.retention).length > 0

/** Sets the retention of every table of bars to that of its feed's definition, or to none. */
export async function applyRetention(
  feeds: readonly TimedFeed[],
  { names, admin, clock, log }: MakingDeps & { readonly log: Log },
): Promise<void> {
  for (const feed of feeds)
    if (isRetentionPending(feed))
      log.warn(
        { feed: feed.definition.key },
        'retention not applied: the clock of this feed is not known yet; its bars are not deleted',
      )
  await untilListed(names, admin, clock)
  const tables = await admin.exec('SELECT table_name, ttlValue, ttlUnit FROM tables()')
  for (const [name, value, unit] of tables) {
    const table = String(name)
    const holds = names.parseBars(table)
    const feed = holds && feeds.find(({ definition }) => names.isOf(holds, definition.key))
    if (holds === undefined || feed === undefined) continue
    const wanted = retentionOf(feed, holds.resolution)
    const isOther =
      wanted !== undefined &&
      (await holdsOtherClock(table, feed, admin, clock).catch((cause: unknown) => {
        log.warn(
          { err: cause, table },
          'failed to read the newest bar of a table; its retention stays as it is',
        )
        return undefined
      }))
    if (isOther === undefined) continue
    if (isOther)
      log.error(
        { feed: feed.definition.key, table },
        "retention not applied: the newest bar of a table is ahead of its feed's clock and would delete the bars before it; see fxd doctor",
      )
    const ttl = isOther ? undefined : wanted
    const isSet = ttl === undefined ? isForever(value, unit) : isTtl(ttl, value, unit)
    if (!isSet) await admin.exec(setTtl(table, holds.resolution, ttl))
  }
}

/** Bars stored while the clock was unknown, or under another definition of it. */
async function holdsOtherClock(
  table: string,
  feed: TimedFeed,
  admin: Administration,
  clock: Clock,
): Promise<boolean> {
  const now = feedNow(clock.utcMs(), feed.offsetSeconds, undefined)
  // An empty table has no row.
  const [row] = await admin.exec(`SELECT max(ts)::long FROM '${table}'`)
  return now === undefined || (typeof row?.[0] === 'number' && secondsOf(row[0]) > now + aheadSecondsMax)
}

/**
 * QuestDB counts retention from the newest bar of a table: one bar with a time of another clock would delete all
 * others. So such a bar is rejected here too, even if other checks passed it.
 */
export function refuseOtherClock(
  { symbol, resolution }: Series,
  { time }: Bars,
  feed: TimedFeed | undefined,
  clock: Clock,
): void {
  if (feed?.definition.retention[resolution] === undefined) return
  // With an unknown clock the tables keep all bars.
  const now = feedNow(clock.utcMs(), feed.offsetSeconds, undefined)
  if (now === undefined) return
  for (let i = 0; i < time.length; i++) {
    if ((time[i] as number) > now + aheadSecondsMax)
      throw new RangeError(
        `A bar of ${symbol} at ${resolution} has the time ${time[i]}, but its feed's clock shows ${now}: with the retention of this feed it would remove the bars before it.`,
      )
  }
}
