import type { Resolution } from '../../../core/feeds/resolution.ts'
import { counterNames } from '../../../core/keys/usage.ts'

type Unit = 'WEEK' | 'MONTH' | 'YEAR'

/** What is rewritten when something arrives late, and what retention drops: not too large, not too many. */
const partitionOf = (resolution: Resolution): Unit => {
  if (resolution === '1') return 'WEEK'
  return resolution === '5' || resolution === '10' || resolution === '15' ? 'MONTH' : 'YEAR'
}

/** Never more than a real one, so that retention never drops what it should keep. */
const shortestSeconds: Readonly<Record<Unit, number>> = {
  WEEK: 7 * 86_400,
  MONTH: 28 * 86_400,
  YEAR: 365 * 86_400,
}

export interface TimeToLive {
  readonly value: number
  readonly unit: Unit
}

/** Retention in whole partitions; QuestDB counts it from the newest bar, on the feed's own clock. */
export function timeToLive(
  resolution: Resolution,
  retentionSeconds: number | undefined,
): TimeToLive | undefined {
  if (retentionSeconds === undefined) return undefined
  const unit = partitionOf(resolution)
  return { unit, value: Math.max(1, Math.ceil(retentionSeconds / shortestSeconds[unit])) }
}

const ttlWords = ({ value, unit }: TimeToLive): string => `TTL ${value} ${unit}S`

/**
 * Two rows are one only when time, symbol, revision and the moment of taking are: a repeat of our own
 * changes nothing, and no order of arrival matters. The reader keeps the greatest revision, of equal
 * ones the row taken first.
 */
export function createBars(table: string, resolution: Resolution, ttl: TimeToLive | undefined): string {
  return `
    CREATE TABLE IF NOT EXISTS '${table}' (
      ts TIMESTAMP, sym SYMBOL INDEX, rev LONG, taken LONG,
      o DOUBLE, h DOUBLE, l DOUBLE, c DOUBLE, v LONG
    ) TIMESTAMP(ts) PARTITION BY ${partitionOf(resolution)} ${ttl ? ttlWords(ttl) : ''} WAL
    DEDUP UPSERT KEYS(ts, sym, rev, taken)`
}

/** What stands for "no retention" where tables by month or year refuse to have theirs taken away (0). */
const forever: TimeToLive = { value: 9_999, unit: 'YEAR' }

/** Whether the server's own words for a table's retention mean this: of 12 months it says one year. */
export function isTtl({ value, unit }: TimeToLive, shownValue: unknown, shownUnit: unknown): boolean {
  if (unit === shownUnit) return value === shownValue
  return unit === 'MONTH' && shownUnit === 'YEAR' && value === 12 * Number(shownValue)
}

export const isForever = (value: unknown, unit: unknown): boolean =>
  value === 0 || (value === forever.value && unit === forever.unit)

export const setTtl = (table: string, resolution: Resolution, ttl: TimeToLive | undefined): string => {
  const none = partitionOf(resolution) === 'WEEK' ? 'TTL 0 WEEKS' : ttlWords(forever)
  return `ALTER TABLE '${table}' SET ${ttl ? ttlWords(ttl) : none}`
}

const windowKeys = 'ts, sym, res, writer, slot'

/** A writer numbers the windows that it holds of a series; `ts` is when it began, and only keeps its rows together. */
export const createWindows = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, sym SYMBOL, res SYMBOL, writer SYMBOL, slot INT, start LONG, stop LONG
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL
  DEDUP UPSERT KEYS(${windowKeys})`

/** For tables of schema version 1, whose windows were known by their starts. */
export const numberWindows = (table: string): readonly string[] => [
  `ALTER TABLE '${table}' ADD COLUMN IF NOT EXISTS slot INT`,
  `ALTER TABLE '${table}' DEDUP ENABLE UPSERT KEYS(${windowKeys})`,
]

/**
 * `ts` is the version that a change is based on, in microseconds. Not deduplicated: of changes based
 * on one version QuestDB keeps the order of arrival, and the first of them is the one that counts.
 */
export const createRegistry = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, kind SYMBOL, change VARCHAR, size INT, position INT, id VARCHAR, body VARCHAR
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL`

/**
 * The one table on the real clock, so its retention is too; four months are never less than the days that
 * are shown. A count that differs is a row of its own: the reader takes the greatest of each.
 */
export const createUsageDays = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, key SYMBOL INDEX, ${counterNames.map((name) => `${name} LONG`).join(', ')}
  ) TIMESTAMP(ts) PARTITION BY MONTH TTL 4 MONTHS WAL
  DEDUP UPSERT KEYS(ts, key, ${counterNames.join(', ')})`

export const createParked = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, origin SYMBOL, reason VARCHAR, line VARCHAR
  ) TIMESTAMP(ts) PARTITION BY MONTH WAL`

export const createSchema = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, version INT
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL
  DEDUP UPSERT KEYS(ts, version)`
