import type { DatabaseSync } from 'node:sqlite'
import { feedSeconds, utcMs } from '../../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { RateUse } from '../../../core/keys/rate-window.ts'
import { counterNames, type DailyCounters, type Day } from '../../../core/keys/usage.ts'
import type { FeedLiveness } from '../../../ports/feed-board.ts'
import type { KeyDay } from '../../../ports/usage-days.ts'

/** Values that are kept in memory and written every second. Each value is a complete row. */
export interface MemoryRows {
  readonly usage: readonly KeyDay[]
  readonly uses: readonly (readonly [key: string, use: RateUse])[]
  readonly liveness: readonly (readonly [feed: FeedKey, liveness: FeedLiveness])[]
}

/** Writing the same rows again is harmless. Call it inside a transaction. */
export function memoryUpserts(db: DatabaseSync): (rows: MemoryRows) => void {
  // Memory begins at zero for a stored day that it did not read, or forgot, while the clock was wrong.
  const usage = usageUnion(db)
  const uses = replaceInto(db, 'rate_use', ['key', 'minute', 'used_minute', 'day', 'used_day'])
  const liveness = replaceInto(db, 'feed_sign', [
    'feed',
    'received_at',
    'newest_bar',
    'heartbeat_at',
    'newest_tick',
  ])
  return (rows) => {
    rows.usage.forEach(usage)
    for (const [key, { minute, usedMinute, day, usedDay }] of rows.uses)
      uses(key, minute, usedMinute, day, usedDay)
    for (const [feed, { receivedAt, newestBar, heartbeatAt, newestTick }] of rows.liveness)
      liveness(feed, receivedAt ?? null, newestBar ?? null, heartbeatAt ?? null, newestTick ?? null)
  }
}

function replaceInto(db: DatabaseSync, table: string, names: readonly string[]) {
  const statement = db.prepare(
    `REPLACE INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  return (...values: (string | number | null)[]): void => void statement.run(...values)
}

/** Keeps the greater value of each counter. */
export function usageUnion(db: DatabaseSync): (row: KeyDay) => void {
  const statement = db.prepare(
    `INSERT INTO usage (key, day, ${counterNames.join(', ')}) VALUES (?, ?, ${counterNames.map(() => '?').join(', ')})
     ON CONFLICT (key, day) DO UPDATE SET ${counterNames.map((name) => `${name} = max(${name}, excluded.${name})`).join(', ')}`,
  )
  return ({ keyId, day, counters }) =>
    void statement.run(keyId, day, ...counterNames.map((name) => counters[name]))
}

export function usagePrune(db: DatabaseSync): (firstDay: Day) => void {
  const statement = db.prepare('DELETE FROM usage WHERE day < ?')
  return (firstDay) => void statement.run(firstDay)
}

/** What a start reads back: usage from `firstDay` on, all rate windows, and the times of all feeds. */
export function readMemoryRows(db: DatabaseSync, firstDay: Day): MemoryRows {
  return {
    usage: db.prepare('SELECT * FROM usage WHERE day >= ?').all(firstDay).map(keyDay),
    uses: db
      .prepare('SELECT * FROM rate_use')
      .all()
      .map((row) => [
        String(row['key']),
        {
          minute: Number(row['minute']),
          usedMinute: Number(row['used_minute']),
          day: Number(row['day']),
          usedDay: Number(row['used_day']),
        },
      ]),
    liveness: db
      .prepare('SELECT * FROM feed_sign')
      .all()
      .map((row) => [row['feed'] as FeedKey, livenessOf(row)]),
  }
}

export function usageReads(db: DatabaseSync): (keyId: string, first: Day, last: Day) => readonly KeyDay[] {
  const statement = db.prepare('SELECT * FROM usage WHERE key = ? AND day BETWEEN ? AND ? ORDER BY day')
  return (keyId, first, last) => statement.all(keyId, first, last).map(keyDay)
}

const keyDay = (row: Record<string, unknown>): KeyDay => ({
  keyId: String(row['key']),
  day: String(row['day']),
  counters: Object.fromEntries(counterNames.map((name) => [name, Number(row[name])])) as DailyCounters,
})

const livenessOf = (row: Record<string, unknown>): FeedLiveness => ({
  receivedAt: row['received_at'] === null ? undefined : utcMs(Number(row['received_at'])),
  newestBar: row['newest_bar'] === null ? undefined : feedSeconds(Number(row['newest_bar'])),
  heartbeatAt: row['heartbeat_at'] === null ? undefined : utcMs(Number(row['heartbeat_at'])),
  newestTick: row['newest_tick'] === null ? undefined : feedSeconds(Number(row['newest_tick'])),
})
