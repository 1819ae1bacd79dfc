import { type PartitionUnit, partitionUnit } from '../../../core/bars/partitions.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { counterNames } from '../../../core/keys/usage.ts'

/** Minimum seconds of a partition: a shorter value never makes retention delete too much. */
export const shortestSeconds: Readonly<Record<PartitionUnit, number>> = {
  WEEK: 7 * 86_400,
  MONTH: 28 * 86_400,
  YEAR: 365 * 86_400,
}

export interface TimeToLive {
  readonly value: number
  readonly unit: PartitionUnit
}

/** Retention in whole partitions. QuestDB counts it from the newest bar, on the feed's own clock. */
export function timeToLive(
  resolution: Resolution,
  retentionSeconds: number | undefined,
): TimeToLive | undefined {
  if (retentionSeconds === undefined) return undefined
  const unit = partitionUnit(resolution)
  return { unit, value: Math.max(1, Math.ceil(retentionSeconds / shortestSeconds[unit])) }
}

const ttlWords = ({ value, unit }: TimeToLive): string => `TTL ${value} ${unit}S`

/**
 * Two rows are equal only when time, symbol, revision and `taken` are equal. So our own repeats change nothing, and
 * the order of arrival does not matter. The reader keeps the greatest revision and, of equal revisions, the smallest
 * `taken`.
 */
export function createBars(table: string, resolution: Resolution, ttl: TimeToLive | undefined): string {
  return `
    CREATE TABLE IF NOT EXISTS '${table}' (
      ts TIMESTAMP, sym SYMBOL INDEX, rev LONG, taken LONG,
      o DOUBLE, h DOUBLE, l DOUBLE, c DOUBLE, v LONG
    ) TIMESTAMP(ts) PARTITION BY ${partitionUnit(resolution)} ${ttl ? ttlWords(ttl) : ''} WAL
    DEDUP UPSERT KEYS(ts, sym, rev, taken)`
}

/** Means "no retention" for tables by month or year: QuestDB does not accept 0 for them. */
const forever: TimeToLive = { value: 9_999, unit: 'YEAR' }

/** Whether the server's text for a table's retention means this one: it shows 12 months as one year. */
export function isTtl({ value, unit }: TimeToLive, shownValue: unknown, shownUnit: unknown): boolean {
  if (unit === shownUnit) return value === shownValue
  return unit === 'MONTH' && shownUnit === 'YEAR' && value === 12 * Number(shownValue)
}

export const isForever = (value: unknown, unit: unknown): boolean =>
  value === 0 || (value === forever.value && unit === forever.unit)

export const setTtl = (table: string, resolution: Resolution, ttl: TimeToLive | undefined): string => {
  const none = partitionUnit(resolution) === 'WEEK' ? 'TTL 0 WEEKS' : ttlWords(forever)
  return `ALTER TABLE '${table}' SET ${ttl ? ttlWords(ttl) : none}`
}

const windowKeys = 'ts, sym, res, writer, slot'

/** A writer numbers its windows of a series. `ts` is when the writer began; it only keeps the writer's rows together. */
export const createWindows = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, sym SYMBOL, res SYMBOL, writer SYMBOL, slot INT, start LONG, stop LONG
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL
  DEDUP UPSERT KEYS(${windowKeys})`

/** For tables of schema version 1, which identified windows by their starts. */
export const numberWindows = (table: string): readonly string[] => [
  `ALTER TABLE '${table}' ADD COLUMN IF NOT EXISTS slot INT`,
  `ALTER TABLE '${table}' DEDUP ENABLE UPSERT KEYS(${windowKeys})`,
]

/**
 * `ts` is the version on which a change is based, in microseconds. Rows are not deduplicated: QuestDB keeps the order
 * of arrival of changes that are based on one version, and the first of them counts.
 */
export const createRegistry = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, kind SYMBOL, change VARCHAR, size INT, position INT, id VARCHAR, body VARCHAR
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL`

/**
 * The only table with times in UTC; its retention counts in UTC too. Four months always cover the days that
 * are shown. A different count is a separate row: the reader uses the greatest value of each counter.
 */
export const createUsageDays = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, key SYMBOL INDEX, ${counterNames.map((name) => `${name} LONG`).join(', ')}
  ) TIMESTAMP(ts) PARTITION BY MONTH TTL 4 MONTHS WAL
  DEDUP UPSERT KEYS(ts, key, ${counterNames.join(', ')})`

/** One row per table: `ts` is always 0, so a new id replaces the old one. `accepted`: when a person accepted it, in ms. */
export const createTables = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, name SYMBOL, id LONG, accepted LONG
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL
  DEDUP UPSERT KEYS(ts, name)`

export const createSchema = (table: string): string => `
  CREATE TABLE IF NOT EXISTS '${table}' (
    ts TIMESTAMP, version INT
  ) TIMESTAMP(ts) PARTITION BY YEAR WAL
  DEDUP UPSERT KEYS(ts, version)`
