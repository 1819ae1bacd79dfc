import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Traffic } from '../../kubernetes/installed/traffic.ts'
import { metricOf } from '../../support/clients/metric-of.ts'
import { type Cluster, startCluster } from '../../support/cluster/cluster.ts'
import { startTraffic } from '../../support/cluster/start-traffic.ts'
import { backUp, restoreInto } from '../../support/questdb/backup.ts'
import { appendExport, followed, followedFeed, writeExport } from '../../support/samples/followed-feed.ts'
import { checkHistory, type Reading } from '../checks/check-history.ts'
import { checkSocket, isCaughtUp, type Minute } from '../checks/check-sockets.ts'
import { ask, RepeatedCalls } from '../support/cluster-user.ts'
import { feed, manifest } from '../support/market.ts'
import { readHistory } from '../support/read-history.ts'
import { seeded } from '../support/seeded.ts'
import { StreamClient } from '../support/stream-client.ts'
import { within } from '../support/within.ts'

const startTimeoutMs = 300_000
const timeoutMs = 900_000
const patienceMs = 180_000
/** Time between two minutes of the followed feed. */
const minuteMs = 2_000
const symbols = ['GOLD', 'SILVER', 'COPPER', 'OIL']
/** Number of symbols in the specification; each gets a bar per minute. */
const allSymbols = 2_312
const barsAnHour = allSymbols * 60
const minutesBefore = 8
const minutesAfterBackup = 8
const minutesOfOutage = 30

const home = mkdtempSync(join(tmpdir(), 'fxd-store-'))
const exports = join(home, 'exports')
const begin = Math.floor(Date.now() / 60_000) * 60 - 6 * 3_600
const minutes: Minute[] = []
let cluster: Cluster
let traffic: Traffic
let key = ''
let clients: readonly StreamClient[] = []
let closing: RepeatedCalls
beforeAll(async () => {
  mkdirSync(exports)
  const feeds = join(home, 'feeds.yaml')
  writeFileSync(feeds, manifest + followed(exports, symbols))
  for (const symbol of symbols) writeExport(exports, symbol, [begin - 60])
  cluster = await startCluster({ rest: 2, stream: 2, ingest: 2, feeds, home: join(home, 'cluster') })
  ;({ key, traffic } = await startTraffic(cluster, [feed, followedFeed]))
  const { random } = seeded()
  clients = [false, true, false, true].map((resumes, i) =>
    new StreamClient({
      name: `followed-${i}`,
      url: `ws://127.0.0.1:${cluster.httpPort}`,
      key,
      feed: followedFeed,
      symbols,
      resumes,
      random,
      fill: (symbol, after) => timesOf(symbol, after + 1),
    }).start(),
  )
  await within(patienceMs, 'a subscription of each', () =>
    clients.every(({ record }) => record !== undefined),
  )
  closing = new RepeatedCalls(1, minuteMs, () => Promise.resolve(closeMinute()))
}, startTimeoutMs)
afterAll(async () => {
  await closing?.stop()
  await Promise.all(clients.map((client) => client.stop()))
  await traffic?.stop()
  await cluster?.stop()
  rmSync(home, { recursive: true, force: true })
}, startTimeoutMs)

function closeMinute(): void {
  const time = begin + 60 * minutes.length
  minutes.push({ time, begunMs: performance.now() })
  for (const symbol of symbols) appendExport(exports, symbol, time)
}

const get = (path: string) => ask(cluster.httpPort, path, key)
async function timesOf(symbol: string, from: number): Promise<readonly number[]> {
  const to = Math.floor(Date.now() / 1_000)
  const { status, body } = await get(
    `/v1/history?symbol=${followedFeed}:${symbol}&resolution=1&from=${from}&to=${to}`,
  )
  if (status !== 200) throw new Error(`history answered ${status}`)
  return (body as { t?: readonly number[] }).t ?? []
}
const flows = (count: number): Promise<void> => {
  const wanted = minutes.length + count
  return within(patienceMs, 'minutes to pass', () => minutes.length >= wanted)
}
const seen = (): number =>
  clients.reduce(
    (sum, { records }) =>
      sum + records.reduce((all, record) => all + record.seen.filter(({ type }) => type === 'bar').length, 0),
    0,
  )
const sockets = (): number => clients.reduce((sum, { records }) => sum + records.length, 0)
const caughtUp = (): Promise<void> => {
  const sent = [...minutes]
  const late = (): readonly string[] =>
    clients.flatMap(({ name, record }) =>
      record === undefined
        ? [`${name} has no socket`]
        : isCaughtUp(record, sent)
          ? []
          : [`${record.id} is late`],
    )
  return within(patienceMs, 'all clients to catch up', () => late().length === 0).catch((cause: unknown) => {
    throw new Error(`${late().join(', ')}: ${seen()} bars of ${sent.length} minutes`, { cause })
  })
}
const spool = (what: 'bars' | 'bytes' | 'dropped_bars_total'): Promise<number> =>
  metricOf(cluster.pod('collector-brokerb-files').opsPort, `fxd_collector_spool_${what}`)

/** Records when any socket last received a bar. */
function watchReceipts() {
  let [last, atMs] = [seen(), performance.now()]
  const looking = new RepeatedCalls(1, 100, () => {
    if (seen() > last) [last, atMs] = [seen(), performance.now()]
    return Promise.resolve()
  })
  return {
    get atMs() {
      return atMs
    },
    stop: () => looking.stop(),
  }
}

/** Requests history repeatedly and records the answers. */
function watchHistory() {
  const answers: { readonly atMs: number; readonly status: number; readonly retryAfter: string }[] = []
  const path = `/v1/history?symbol=${followedFeed}:${symbols[0]}&resolution=1&countback=5`
  const asking = new RepeatedCalls(1, 100, async () => {
    const { status, headers } = await get(path)
    answers.push({ atMs: performance.now(), status, retryAfter: headers['retry-after'] ?? '' })
  })
  return { answers, stop: () => asking.stop() }
}

test('QuestDB is lost with its volume and restored from an older backup: sockets stay open, history answers 500 meanwhile, and collectors send all bars again', {
  timeout: timeoutMs,
}, async () => {
  await flows(minutesBefore)
  await caughtUp()
  const archive = join(home, 'backup.tar')
  const inBackup = new Set(traffic.readings.filter(({ acked }) => acked))
  await backUp(cluster.questdb, archive)
  await flows(minutesAfterBackup)
  await caughtUp()
  const watch = watchHistory()
  const open = sockets()

  const lostMs = performance.now()
  await cluster.questdb.kill()
  rmSync(cluster.questdb.folder, { recursive: true, force: true })
  const before = { seen: seen(), bars: await spool('bars'), bytes: await spool('bytes') }
  const receiving = watchReceipts()
  await flows(minutesOfOutage)
  await receiving.stop()
  const pushed = seen() - before.seen
  const grown = {
    bars: (await spool('bars')) - before.bars,
    bytes: (await spool('bytes')) - before.bytes,
  }
  expect((await get('/v1/status')).body).toMatchObject({ status: 'degraded' })
  expect(sockets(), 'sockets that ended while the store was unavailable').toBe(open)
  expect(pushed).toBeGreaterThan(0)

  // Acks in transit when the server was lost have arrived by now.
  const lostReadings = new Set(traffic.readings.filter((reading) => reading.acked && !inBackup.has(reading)))

  // docs/kubernetes.md, "Restore".
  const roles = cluster.pods.filter(({ role }) => role !== 'collector')
  for (const { program } of roles) await program.stop('SIGINT')
  await restoreInto(cluster.questdb, archive)
  for (const { program } of roles) program.begin()
  await Promise.all(roles.map(({ program }) => program.ready()))

  await within(patienceMs, 'history', () => watch.answers.at(-1)?.status === 200)
  await within(patienceMs, 'the spool to be empty', async () => (await spool('bars')) === 0)
  await within(patienceMs, 'sockets', () => clients.every(({ record }) => record !== undefined))
  await flows(5)
  await closing.stop()
  await caughtUp()
  await watch.stop()
  await traffic.stop()
  const unavailable = watch.answers.filter(({ atMs, status }) => atMs > lostMs && status !== 200)
  const withoutHistoryMs = (unavailable.at(-1)?.atMs ?? lostMs) - lostMs
  const refused = unavailable.filter(({ status }) => status === 500)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.filter(({ retryAfter }) => !/^\d+$/.test(retryAfter))).toEqual([])

  expect(clients.flatMap(({ records }) => records.flatMap((record) => checkSocket(record, minutes)))).toEqual(
    [],
  )
  let missing: string[] = []
  const isWhole = async (): Promise<boolean> => {
    const stored = await Promise.all(symbols.map((symbol) => timesOf(symbol, begin)))
    missing = symbols.flatMap((symbol, i) =>
      minutes.filter(({ time }) => !stored[i]?.includes(time)).map(({ time }) => `${symbol} at ${time}`),
    )
    return missing.length === 0
  }
  await within(patienceMs, 'all minutes in history', isWhole).catch(() => undefined)
  expect(missing).toEqual([])
  // A push collector must send again what was acknowledged after the backup.
  const asOfThen = traffic.readings.map(
    (reading): Reading => (lostReadings.has(reading) ? { ...reading, acked: false } : reading),
  )
  const asked = { get: async (path: string) => ({ ...(await get(path)), tookMs: 0 }) }
  expect(checkHistory(asOfThen, await readHistory(asked, traffic.market, '1'))).toEqual([])
  expect(await spool('dropped_bars_total')).toBe(0)
  const mibAnHour = ((grown.bytes / grown.bars) * barsAnHour) / 2 ** 20
  console.log(
    `${(withoutHistoryMs / 60_000).toFixed(1)} minutes without history (${refused.length} answers of 500, all with Retry-After); ` +
      `0 of ${minutes.length * symbols.length} bars of the collector missing at the end; ` +
      `${lostReadings.size} readings that were pushed and acknowledged after the backup are to be pushed again; ` +
      `${pushed} bars came over sockets in the ${Math.round((receiving.atMs - lostMs) / 1_000)} s after the loss; ` +
      `the spool grew by ${grown.bars} bars and ${grown.bytes} bytes in ${minutesOfOutage} minutes of the feed, ` +
      `computed for ${allSymbols} symbols: ${mibAnHour.toFixed(0)} MiB an hour`,
  )
})
