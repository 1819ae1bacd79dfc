import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Bars, barCount } from '../../services/core/bar.ts'
import { bucketOf } from '../../services/core/bucket.ts'
import { compoundKey, feedKey } from '../../services/core/compound-key.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import type { Series } from '../../services/core/series.ts'
import { silentLog } from '../../services/platform/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { createBars } from '../../services/stores/questdb/layout/statements.ts'
import { TableNames } from '../../services/stores/questdb/layout/tables.ts'
import { openQuestdbStores, type QuestdbStores } from '../../services/stores/questdb/open.ts'
import { type QuestdbServer, startQuestdb } from '../support/questdb/server.ts'

/**
 * Measures layouts of M1 on a real QuestDB: one feed of so many symbols in so many tables.
 * `bin/node test/bench/questdb-layout.ts [million rows = 50] [symbols/buckets …]`
 * Needs about 100 bytes of temporary disk a row.
 */
const [millions = '50', ...shapes] = process.argv.slice(2)
const rowsWanted = Number(millions) * 1_000_000
const layouts = (shapes.length > 0 ? shapes : ['230/1', '230/4', '1622/1', '1622/8', '1622/32']).map(
  (shape) => {
    const [symbols = 230, buckets = 4] = shape.split('/').map(Number)
    return { symbols, buckets }
  },
)

const feed = feedKey('BROKERA', 'ZERO')
const prefix = 'bench_'
const names = new TableNames(prefix)
const startSeconds = 1_760_000_040
const rowsPerInsert = 4_000_000
const nameAt = (i: number): string => `S${i}_CFD.US`
const seriesAt = (i: number): Series => ({ feed, symbol: compoundKey(feed, nameAt(i)), resolution: '1' })

const say = (what: string, figure: string): void => console.log(`  ${what.padEnd(44)}${figure}`)
const quantilesOf = (all: readonly number[]): string => {
  const sorted = all.toSorted((a, b) => a - b)
  const at = (q: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0).toFixed(2)
  return `median ${at(0.5)} ms, best ${at(0)}, p95 ${at(0.95)}`
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}

const open = (server: QuestdbServer): Promise<QuestdbStores> =>
  openQuestdbStores({
    http: server.http,
    pg: server.pg,
    credentials: { user: 'admin', password: 'quest' },
    prefix,
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics({ ofProcess: false }),
  })

/** Rows of all symbols, minute by minute, each price with five decimals; made by QuestDB itself. */
async function fill(server: QuestdbServer, symbols: number, buckets: number): Promise<number> {
  const minutes = Math.floor(rowsWanted / symbols)
  for (let bucket = 0; bucket < buckets; bucket++) {
    const table = names.bars(feed, '1', bucket, buckets)
    await server.exec(createBars(table, '1', undefined).replace(/\s+/g, ' ').trim())
    const inside = Array.from({ length: symbols }, (_, i) => i).filter(
      (i) => bucketOf(nameAt(i), buckets) === bucket,
    )
    if (inside.length === 0) continue
    const list = `array_${bucket}`
    await server.exec(`CREATE TABLE ${list} (n LONG, sym SYMBOL)`)
    for (let at = 0; at < inside.length; at += 200)
      await server.exec(
        `INSERT INTO ${list} VALUES ${inside
          .slice(at, at + 200)
          .map((i, n) => `(${at + n}, '${nameAt(i)}')`)
          .join(',')}`,
      )
    const minutesPerInsert = Math.max(1, Math.floor(rowsPerInsert / inside.length))
    for (let minute = 0; minute < minutes; minute += minutesPerInsert) {
      const count = Math.min(minutesPerInsert, minutes - minute)
      await server.exec(
        `INSERT BATCH 10000000 INTO ${table} ` +
          `SELECT ((${startSeconds}L + (x - 1 + ${minute}) * 60) * 1000000)::timestamp, l.sym, 1790000000000L, x, ` +
          'rnd_int(100000, 199999, 0) / 100000.0, rnd_int(100000, 199999, 0) / 100000.0, ' +
          'rnd_int(100000, 199999, 0) / 100000.0, rnd_int(100000, 199999, 0) / 100000.0, rnd_long(1, 500, 0) ' +
          `FROM long_sequence(${count}) CROSS JOIN ${list} l`,
      )
    }
    await server.exec(`DROP TABLE ${list}`)
  }
  await applied(server)
  return minutes
}

async function applied(server: QuestdbServer): Promise<void> {
  const behind = 'SELECT count() FROM wal_tables() WHERE writerTxn < sequencerTxn'
  while (Number((await server.exec(behind))[0]?.[0]) > 0) await systemClock.sleep(100)
}

interface Filled {
  readonly symbols: number
  readonly buckets: number
  readonly minutes: number
}

const anyOf = (count: number): number => Math.floor(Math.random() * count)

async function readOnce(
  stores: QuestdbStores,
  { symbols, minutes }: Filled,
  count: number,
  newest = false,
): Promise<Bars> {
  const last = newest ? minutes : count + anyOf(minutes - count)
  const to = feedSeconds(startSeconds + (last - 1) * 60)
  return stores.bars.read({
    series: seriesAt(anyOf(symbols)),
    from: feedSeconds(0),
    to,
    take: { count, end: 'newest' },
  })
}

async function reads(stores: QuestdbStores, filled: Filled): Promise<void> {
  for (const [what, count, newest] of [
    ['newest 300 bars, warm', 300, true],
    ['300 bars anywhere, warm', 300, false],
    ['newest 10,000 bars, warm', 10_000, true],
    ['10,000 bars anywhere, warm', 10_000, false],
  ] as const) {
    for (let i = 0; i < 50; i++) await readOnce(stores, filled, count, newest)
    const all: number[] = []
    for (let i = 0; i < 200; i++)
      all.push(
        await timed(async () => {
          const bars = await readOnce(stores, filled, count, newest)
          if (barCount(bars) !== count) throw new Error(`${barCount(bars)} bars instead of ${count}`)
        }),
      )
    say(what, quantilesOf(all))
  }
  const eight = async (): Promise<void> => {
    for (let i = 0; i < 25; i++) await readOnce(stores, filled, 10_000)
  }
  const pool = await timed(() => Promise.all(Array.from({ length: 8 }, eight)))
  say('10,000 bars, 8 readers at once', `${Math.round(200 / (pool / 1_000))} a second`)
  say('last times of the feed', `${(await timed(() => stores.bars.lastTimes(feed))).toFixed(0)} ms`)
}

/** Drops this folder's pages, and nobody else's, from the machine's page cache. */
function forgetPages(folder: string): void {
  execFileSync('sync', ['-f', folder])
  const drop = 'for file; do dd if="$file" iflag=nocache count=0 status=none; done'
  execFileSync('find', [folder, '-type', 'f', '-exec', 'sh', '-c', drop, 'sh', '{}', '+'])
}

/** What is not in memory has to come from the disk. */
async function coldReads(server: QuestdbServer, filled: Filled): Promise<void> {
  for (const count of [300, 10_000]) {
    const all: number[] = []
    const failed: unknown[] = []
    await server.kill()
    forgetPages(server.folder)
    await server.start()
    const stores = await open(server)
    // Disjoint ranges: symbols share pages, and one read warms its range for all.
    const ranges = 12
    for (let i = 0; i < ranges; i++) {
      const last = Math.floor(((i + 1) * filled.minutes) / ranges)
      const to = feedSeconds(startSeconds + (last - 1) * 60)
      const series = seriesAt(anyOf(filled.symbols))
      const from = feedSeconds(0)
      const read = async (): Promise<void> => {
        const bars = await stores.bars.read({ series, from, to, take: { count, end: 'newest' } })
        if (barCount(bars) === 0) throw new Error(`no bars of ${series.symbol} at ${to}`)
      }
      // One that took longer than a read may is no figure, and no reason to hide the others.
      await timed(read).then(
        (tookMs) => all.push(tookMs),
        (cause: unknown) => failed.push(cause),
      )
    }
    const without = failed.length === 0 ? '' : `; ${failed.length} of ${ranges} FAILED: ${String(failed[0])}`
    say(`${count} bars, cold`, `${quantilesOf(all.slice(1))}${without}`)
    await stores.close()
  }
}

async function liveMinutes(stores: QuestdbStores, { symbols, minutes }: Filled, mode: string): Promise<void> {
  const all: number[] = []
  for (let minute = 0; minute < 30; minute++) {
    const time = startSeconds + (minutes + minute) * 60
    const batch = Array.from({ length: symbols }, (_, i) => ({
      series: seriesAt(i),
      bars: {
        time: Float64Array.of(time),
        open: Float64Array.of(1.1),
        high: Float64Array.of(1.2),
        low: Float64Array.of(1.05),
        close: Float64Array.of(1.15),
        volume: Float64Array.of(7),
        revision: Float64Array.of(1_790_000_000_000 + minute),
      },
    }))
    all.push(await timed(() => stores.bars.write(batch, 'live')))
  }
  say(`live minute written and readable, ${mode}`, quantilesOf(all.slice(5)))
}

function footprint({ pid }: QuestdbServer): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (name: string): string =>
    `${Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024)} MB`
  return `${readdirSync(`/proc/${pid}/fd`).length} handles, ${megabytes('VmRSS')} resident, ${megabytes('RssAnon')} its own`
}

const folderSize = (folder: string): number => {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const blocks = entries.reduce(
    (sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).blocks,
    0,
  )
  return Math.round((blocks * 512) / 2 ** 20)
}

for (const { symbols, buckets } of layouts) {
  const server = await startQuestdb({ memory: '512m', settings: { QDB_HTTP_RECEIVE_BUFFER_SIZE: '2M' } })
  try {
    console.log(`${symbols} symbols in ${buckets} tables`)
    const begun = performance.now()
    const minutes = await fill(server, symbols, buckets)
    const filled = { symbols, buckets, minutes }
    say(
      'filled',
      `${((minutes * symbols) / 1e6).toFixed(1)} M rows in ${((performance.now() - begun) / 1_000).toFixed(0)} s, ${folderSize(server.folder)} MB`,
    )
    const stores = await open(server)
    await reads(stores, filled)
    await liveMinutes(stores, filled, 'nosync')
    say('after reads and writes', footprint(server))
    await stores.close()
    await coldReads(server, filled)
    await server.kill()
    await server.start({ QDB_CAIRO_COMMIT_MODE: 'sync' })
    const synced = await open(server)
    await liveMinutes(synced, { ...filled, minutes: minutes + 30 }, 'sync')
    await synced.close()
  } finally {
    await server.stop()
  }
}
