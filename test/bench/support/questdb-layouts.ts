import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Series } from '../../../services/core/bars/series.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics, type Metrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { bucketOf } from '../../../services/stores/questdb/layout/bucket.ts'
import { createBars } from '../../../services/stores/questdb/layout/statements.ts'
import { TableNames } from '../../../services/stores/questdb/layout/tables.ts'
import { prepareQuestdbStores, type QuestdbStores } from '../../../services/stores/questdb/open.ts'
import { connected } from '../../support/connected.ts'
import { type QuestdbServer, startQuestdb } from '../../support/questdb/server.ts'

/** Layout of one resolution of a feed in QuestDB. Fields that are left out are as in the store. */
export interface Layout {
  readonly what: string
  readonly symbols: number
  readonly buckets: number
  readonly key: string | undefined
  readonly partition: string | undefined
  readonly resolution: '1' | '5' | '60'
}

const keys: Readonly<Record<string, string>> = {
  bare: 'ts, sym',
  rev: 'ts, sym, rev',
  taken: 'ts, sym, rev, taken',
}

const resolutions: Readonly<Record<string, Layout['resolution']>> = { m5: '5', h1: '60' }

/** Parses `symbols/buckets` and, after further slashes, a key (bare, rev, taken), a partition (day, week, month), m5 or h1. */
export function parseLayout(what: string): Layout {
  const [symbols, buckets, ...more] = what.split('/')
  const key = more.find((word) => word in keys)
  const partition = more.find((word) => ['day', 'week', 'month'].includes(word))
  const other = more.find((word) => word in resolutions)
  const strange = more.find((word) => word !== key && word !== partition && word !== other)
  if (!(Number(symbols) > 0 && Number(buckets) > 0) || strange !== undefined)
    throw new RangeError(`"${what}" is no layout; "230/4/rev/week" is one.`)
  return {
    what,
    symbols: Number(symbols),
    buckets: Number(buckets),
    key: key && keys[key],
    partition,
    resolution: resolutions[other ?? ''] ?? '1',
  }
}

const feed = feedKey('BROKERA', 'ZERO')
export const prefix = 'bench_'
const names = new TableNames(prefix)
/** A Monday at 00:00 UTC. */
const startSeconds = 1_759_708_800
const rowsPerInsert = 4_000_000
const nameAt = (i: number): string => `S${i}_CFD.US`
export const seriesAt = ({ resolution }: Layout, i: number): Series => ({
  feed,
  symbol: compoundKey(feed, nameAt(i)),
  resolution,
})
/** When the bar number `at` of each symbol opens. */
export const timeAt = ({ resolution }: Layout, at: number): number =>
  startSeconds + at * stepSeconds(resolution)
const stepSeconds = (resolution: Layout['resolution']): number => Number(resolution) * 60

/** A separate server with one layout. */
export interface Filled {
  readonly layout: Layout
  /** Bars of each symbol. */
  readonly length: number
  readonly tookMs: number
  readonly server: QuestdbServer
}

export async function startFilled(layout: Layout, rows: number): Promise<Filled> {
  const server = await startQuestdb({ memory: '512m' })
  const begun = performance.now()
  const length = Math.floor(rows / layout.symbols)
  for (let bucket = 0; bucket < layout.buckets; bucket++) await fillTable(server, layout, length, bucket)
  await applied(server)
  return { layout, length, tookMs: performance.now() - begun, server }
}

const statementFor = ({ key, partition, resolution }: Layout, table: string): string => {
  let sql = createBars(table, resolution, undefined)
  if (key !== undefined) sql = sql.replace(/KEYS\([^)]*\)/, `KEYS(${key})`)
  if (partition !== undefined) sql = sql.replace(/PARTITION BY \w+/, `PARTITION BY ${partition}`)
  return sql.replace(/\s+/g, ' ').trim()
}

/** Inserts rows of the bucket's symbols, ordered by time, with random prices of five decimals from QuestDB. */
async function fillTable(
  server: QuestdbServer,
  layout: Layout,
  length: number,
  bucket: number,
): Promise<void> {
  const table = names.bars(feed, layout.resolution, bucket, layout.buckets)
  await server.exec(statementFor(layout, table))
  const inside = Array.from({ length: layout.symbols }, (_, i) => nameAt(i)).filter(
    (name) => bucketOf(name, layout.buckets) === bucket,
  )
  if (inside.length === 0) return
  const list = `list_${bucket}`
  await server.exec(`CREATE TABLE ${list} (sym SYMBOL)`)
  for (let at = 0; at < inside.length; at += 200) {
    const values = inside.slice(at, at + 200).map((name) => `('${name}')`)
    await server.exec(`INSERT INTO ${list} VALUES ${values.join(',')}`)
  }
  const timesPerInsert = Math.max(1, Math.floor(rowsPerInsert / inside.length))
  const price = 'rnd_int(100000, 199999, 0) / 100000.0'
  const step = stepSeconds(layout.resolution)
  for (let at = 0; at < length; at += timesPerInsert)
    await server.exec(
      `INSERT BATCH 10000000 INTO ${table} ` +
        `SELECT ((${startSeconds}L + (x - 1 + ${at}) * ${step}) * 1000000)::timestamp, l.sym, 1790000000000L, x, ` +
        `${price}, ${price}, ${price}, ${price}, rnd_long(1, 500, 0) ` +
        `FROM long_sequence(${Math.min(timesPerInsert, length - at)}) CROSS JOIN ${list} l`,
    )
  await server.exec(`DROP TABLE ${list}`)
}

async function applied(server: QuestdbServer): Promise<void> {
  const behind = 'SELECT count() FROM wal_tables() WHERE writerTxn < sequencerTxn'
  while (Number((await server.exec(behind))[0]?.[0]) > 0) await pause(100)
}

export interface Opened {
  readonly stores: QuestdbStores
  /** From sending each request to its commit, in milliseconds. */
  readonly acks: number[]
}

/** Opens the store as the service does and records each commit; `begin` begins the name of every table. */
export async function openOver({ http, pg }: QuestdbServer, begin: string = prefix): Promise<Opened> {
  const acks: number[] = []
  const metrics = createMetrics({ ofProcess: false })
  const heard: Metrics = {
    ...metrics,
    histogram(name, ...rest) {
      const made = metrics.histogram(name, ...rest)
      if (name !== 'fxd_questdb_commit_seconds') return made
      return Object.assign(made, { observe: (tookSeconds: number) => void acks.push(tookSeconds * 1_000) })
    },
  }
  const stores = await connected(
    await prepareQuestdbStores({
      http,
      pg,
      credentials: { user: 'admin', password: 'quest' },
      prefix: begin,
      clock: systemClock,
      log: silentLog,
      metrics: heard,
    }),
  )
  return { stores, acks }
}

export interface Footprint {
  readonly handles: number
  readonly residentMb: number
  readonly ownMb: number
}

export function footprintOf({ pid }: QuestdbServer): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mb = (name: string): number =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024)
  return {
    handles: readdirSync(`/proc/${pid}/fd`).length,
    residentMb: mb('VmRSS'),
    ownMb: mb('RssAnon'),
  }
}

/** Bytes of the tables on disk, without their write-ahead logs. */
export function tableBytes({ folder }: QuestdbServer): number {
  const isLog = new RegExp(`\\${sep}(wal\\d+|txn_seq)(\\${sep}|$)`)
  return readdirSync(join(folder, 'db'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes(`${sep}${prefix}bars_`))
    .filter(({ parentPath }) => !isLog.test(parentPath))
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks * 512, 0)
}

/** Restarts as after a crash, with nothing of this folder in the page cache. */
export async function restartCold({ server }: Filled, settings?: Record<string, string>): Promise<void> {
  await server.kill()
  execFileSync('sync', ['-f', server.folder])
  const drop = 'for file; do dd if="$file" iflag=nocache count=0 status=none; done'
  execFileSync('find', [server.folder, '-type', 'f', '-exec', 'sh', '-c', drop, 'sh', '{}', '+'])
  await server.start(settings)
}
