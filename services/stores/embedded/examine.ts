import { statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { daySeconds } from '../../core/clocks/calendar.ts'
import { feedSeconds, type UtcMs } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedRecord } from '../../core/feeds/feed.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { type ClockReading, knownOffset } from '../../core/registry/clock-history.ts'
import { examineAudit, type FeedStored } from '../../doctor/examine-audit.ts'
import { examineClocks, type NewestStored } from '../../doctor/examine-clocks.ts'
import { type Finding, passed, problem, warning } from '../../doctor/finding.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import { windowReads, windowsOf } from './file/acknowledged-rows.ts'
import { newestTimes } from './file/bar-rows.ts'
import { isNew, schemaVersion } from './file/database.ts'

const mebibyte = 2 ** 20
/** Minimum free disk space: less is not enough for a night's bars and SQLite's temporary files. */
const freeBytesMin = 512 * mebibyte
const busyTimeoutMs = 5_000

/** Examines a data folder and changes nothing, also while a service uses it. It never throws. */
export function examineEmbedded(folder: string, now: UtcMs, audits: boolean): readonly Finding[] {
  const path = join(folder, 'fxd.db')
  try {
    const file = statSync(path, { throwIfNoEntry: false })
    if (!file)
      return [warning('store', `there is no ${path}`, 'start fxd once to create it, or set FXD_DATA_DIR')]
    const disk = examineDisk(folder, file.size)
    const db = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs })
    try {
      return [...disk, ...examineFile(db, path, now, audits)]
    } finally {
      db.close()
    }
  } catch (cause) {
    return [
      problem(
        'store',
        `${path}: ${wordsOf(cause)}`,
        `let fxd read and write ${folder}, or restore it from a backup`,
      ),
    ]
  }
}

function examineDisk(folder: string, fileBytes: number): readonly Finding[] {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const found = `${inMebibytes(free)} free, ${inMebibytes(fileBytes)} of bars`
  return [
    free < freeBytesMin
      ? problem('disk', found, `free disk space for ${folder}: a full disk stores no bars`)
      : passed('disk', found),
  ]
}

function examineFile(db: DatabaseSync, path: string, now: UtcMs, audits: boolean): readonly Finding[] {
  if (isNew(db)) return [warning('schema', `${path} has no tables`, 'start fxd once: it creates its tables')]
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version !== schemaVersion)
    return [
      problem(
        'schema',
        `version ${version} in ${path}; this fxd reads ${schemaVersion} only`,
        'run the fxd that wrote it, or set FXD_DATA_DIR to another folder',
      ),
    ]
  const feeds = feedsIn(db)
  return [
    passed('schema', `version ${version}`),
    examineWhole(db, path),
    ...examineClocks(newestStored(db, feeds), now),
    ...(audits ? feeds.flatMap((feed) => examineAudit(storedOf(db, feed), now)) : []),
  ]
}

function examineWhole(db: DatabaseSync, path: string): Finding {
  let result: string
  try {
    result = String(db.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
  } catch (cause) {
    result = wordsOf(cause)
  }
  return result === 'ok'
    ? passed('file', `${path} is intact`)
    : problem('file', `${path} is damaged: ${result}`, 'stop fxd and restore the folder from a backup')
}

function storedOf(db: DatabaseSync, { definition: feed, offsetSeconds }: TimedFeed): FeedStored {
  const symbols = bodiesOf(db, 'symbol') as readonly SymbolRecord[]
  const days = db.prepare(
    `SELECT time / ${daySeconds} AS day, count(*) AS bars FROM bar WHERE series = ? GROUP BY day ORDER BY day`,
  )
  const stored = db
    .prepare('SELECT id, symbol, resolution FROM series WHERE feed = ?')
    .all(feed.key)
    .map(({ id, symbol, resolution }) => ({
      symbol: symbol as CompoundKey,
      resolution: resolution as Resolution,
      days: days.all(Number(id)).map(({ day, bars }) => ({ day: Number(day), bars: Number(bars) })),
    }))
  return {
    feed,
    offsetSeconds,
    symbols: symbols.filter((each) => each.feed === feed.key),
    windows: windowsOf(feed.key, windowReads(db)({ feed: feed.key, symbol: undefined })),
    stored,
  }
}

interface TimedFeed {
  readonly definition: FeedDefinition
  /** Measured or fixed; `undefined` while it is unknown. */
  readonly offsetSeconds: number | undefined
}

const bodiesOf = (db: DatabaseSync, kind: RegistryBody['kind']): readonly unknown[] =>
  db
    .prepare('SELECT body FROM registry WHERE kind = ?')
    .all(kind)
    .map((row) => JSON.parse(String(row['body'])) as unknown)

function feedsIn(db: DatabaseSync): readonly TimedFeed[] {
  const readings = Map.groupBy(bodiesOf(db, 'clock') as readonly ClockReading[], ({ feed }) => feed)
  const clocksOf = (feed: FeedKey): readonly ClockReading[] =>
    (readings.get(feed) ?? []).toSorted((a, b) => a.since - b.since)
  const shown = (bodiesOf(db, 'feed') as readonly FeedRecord[]).filter(({ hidden }) => !hidden)
  return shown.map(({ definition }) => ({
    definition,
    offsetSeconds: knownOffset(definition, { clocksOf }),
  }))
}

/** The newest bar of all symbols, per feed and resolution. */
function newestStored(db: DatabaseSync, feeds: readonly TimedFeed[]): readonly NewestStored[] {
  const timesOf = newestTimes(db)
  return feeds.flatMap(({ definition: feed, offsetSeconds }) => {
    const newest = new Map<string, number>()
    for (const { resolution, time } of timesOf(feed.key))
      newest.set(resolution, Math.max(time, newest.get(resolution) ?? time))
    return [...newest].map(([resolution, time]) => ({
      where: `${feed.key} at resolution ${resolution}`,
      feed,
      offsetSeconds,
      resolution: resolution as Resolution,
      time: feedSeconds(time),
    }))
  })
}

const inMebibytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`
const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
