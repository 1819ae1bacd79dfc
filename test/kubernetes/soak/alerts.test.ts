import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { shardConnectionsMax } from '../../../services/wire/limits.ts'
import { type Bar, minutes } from '../../acceptance/client/bars.ts'
import { within } from '../../faults/support/within.ts'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { monitoringKinds } from '../cluster/programs.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { ExportsFeed } from '../installed/exports-feed.ts'
import { defectMessage, injectDefect } from '../installed/inject-defect.ts'
import { type Installed, namespace, startInstalled } from '../installed/installed.ts'
import { apiKey, firstFeed, lateFeed, wideLimits } from '../installed/objects.ts'
import { Outside } from '../installed/outside.ts'
import { outputReaderOf, processesOf, stopRepeatedly } from '../installed/pod-processes.ts'
import { kubectlOf } from '../installed/under-load.ts'
import { ExpectedAlerts, reachedSeparately } from '../monitoring/expected-alerts.ts'
import { Prometheus } from '../monitoring/prometheus.ts'

/** Alerts of overload and of damage, with a real Prometheus. `prometheus.test.ts` has the other alerts. */
const startTimeoutMs = 900_000
const scrapedMs = 420_000
/** For alerts that need ten minutes. */
const slowAlertMs = 1_200_000
const scrapeSeconds = 5
const pingMs = 20_000
const httpPort = 8080
const grpcPort = 8090
const connectionsMax = 20
/** More than 90 % of the maximum. One socket less than the maximum, so that a test can open another. */
const openSockets = connectionsMax - 1
/** More than one key may have waiting while QuestDB does not answer. */
const requests = 300
const minutesPerSymbol = 1_440
/** A drain of this length that begins at second 50 may close sockets only at its end, in the next minute. */
const drainSeconds = 8
const drainAtSecond = 50
/** The smallest spool, and more bars than it may contain. */
const spoolMib = 1
const spooledSymbols = Array.from({ length: 150 }, (_, i) => `COIN${i}`)
const spooledMinutes = 200
/** Between two minutes of the files, so that each is spooled alone: one record of many minutes is far smaller. */
const minuteMs = 500
/** Requests under way at the same time, until log lines are dropped. */
const requestsUnderWay = 8
/** Bars per symbol of one burst, and the time between two bursts. */
const burstMinutes = 400
const burstMs = 20_000
/** Most of each second, so that the event loop is often blocked. */
const longStops = { stoppedMs: 700, runningMs: 300 }
/** The process runs for less time than a burst takes, so every burst is stopped at least once. */
const shortStops = { stoppedMs: 120, runningMs: 5 }
const symbols = Array.from({ length: 8 }, (_, i) => `COIN${i}`)
/** Open time of the first bar: so long ago that all bars of this file are closed. */
const begin = Math.floor(Date.now() / 86_400_000) * 86_400 - 30 * 86_400
/** Volumes that fit a column of type SHORT, and one that does not. */
const [smallVolume, rejectedVolume] = [7, 70_000]

/** A Push feed; this file is its collector. */
const pushFeed = {
  ...lateFeed,
  spec: { ...lateFeed.spec, symbols: { list: symbols.map((raw) => ({ raw, type: 'crypto', digits: 2 })) } },
}

let installed: Installed
let outside: Outside
let prometheus: Prometheus
let alerts: ExpectedAlerts
let collector: RawSession
let key = ''
const sockets: WebSocket[] = []
const stopping = new AbortController()
let stopped: Promise<unknown> | undefined
let pings: NodeJS.Timeout | undefined

const kubectl = (...args: readonly string[]): Promise<string> => kubectlOf(installed)(...args)
const ready = (kind: string, name: string): Promise<string> =>
  kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=150s')
const podOf = (component: string, path: string): Promise<string> =>
  kubectl('get', 'pods', '-l', `app.kubernetes.io/component=${component}`, `-o=jsonpath={.items[0].${path}}`)
const processesOfFirst = async (component: string): Promise<readonly [number, ...number[]]> =>
  processesOf(kubectl, `pod/${await podOf(component, 'metadata.name')}`)
const scaleShards = (replicas: number): Promise<string> =>
  kubectl('scale', 'streampool/fxd-stream', `--replicas=${replicas}`)
const shards = (count: number): Promise<void> =>
  within(scrapedMs, `${count} shards`, async () => {
    const pods = await kubectl('get', 'pods', '-l', 'marketdata.fxd.dev/streampool', '-o=name')
    return pods.trim().split('\n').length === count
  })
/** Bars of one symbol, `from` and `count` in minutes after the beginning. */
const bars = (symbol: string, from: number, count: number, volume = smallVolume) => {
  const times = Array.from({ length: count }, (_, i) => begin + (from + i) * 60)
  return seriesAt(symbol, times, { scale: 2, volume })
}

async function openSocket(): Promise<WebSocket> {
  const socket = new WebSocket(`${outside.ws}/v1/stream?api_key=${key}`, outside.connection).on(
    'error',
    () => undefined,
  )
  await once(socket, 'open')
  sockets.push(socket)
  return socket
}

beforeAll(async () => {
  installed = await startInstalled()
  outside = new Outside(installed)
  await kubectl('apply', '--server-side', ...monitoringKinds().flatMap((file) => ['-f', file]))
  await kubectl('apply', '-f', firstFeed)
  await installed.cluster.apply(
    pushFeed,
    apiKey('load', { ...wideLimits, feeds: ['DEMO:SIM', 'BROKERB:LIVE'] }),
  )
  await Promise.all(['demo', 'brokerb-live'].map((name) => ready('feed', name)))
  await scaleShards(1)
  await installed.upgrade({
    monitoring: { podMonitor: { interval: `${scrapeSeconds}s` } },
    stream: { connectionsMax, drain: { seconds: drainSeconds } },
    collector: { extraEnv: [{ name: 'FXD_SPOOL_MIB', value: String(spoolMib) }] },
  })
  await shards(1)
  await ready('streampool', 'fxd-stream')
  key = await deliveredKey(installed.cluster, namespace, 'load')
  const token = await kubectl('get', 'secret', 'brokerb-live-token', '-o=jsonpath={.data.token}')
  collector = new RawSession(await outside.exposeIngest(), Buffer.from(token, 'base64').toString().trim())
  await collector.hello('BROKERB:LIVE')
  prometheus = await Prometheus.start(installed.cluster, namespace)
  alerts = new ExpectedAlerts(prometheus)
  await within(scrapedMs, 'all targets', async () => {
    const targets = await prometheus.targets()
    return targets.length > 0 && targets.every(({ health }) => health === 'up')
  })
  // An increase requires two samples.
  await pause(2 * scrapeSeconds * 1_000)
  await outside.untilUpgraded(key)
  for (let open = 0; open < openSockets; open += 1) await openSocket()
  pings = setInterval(() => {
    for (const socket of sockets) socket.ping()
  }, pingMs)
}, startTimeoutMs)
afterAll(async () => {
  stopping.abort()
  await stopped
  clearInterval(pings)
  for (const socket of sockets) socket.terminate()
  collector?.stream.cancel()
  await prometheus?.stop()
  await installed?.stop()
})

test('a drain that ends around the end of a minute raises an alert', async () => {
  await scaleShards(2)
  const newest = ['--sort-by=.metadata.creationTimestamp', '-o=jsonpath={.items[-1:].status.podIP}'] as const
  let socket: WebSocket | undefined
  await within(scrapedMs, 'a socket of the second shard', async () => {
    await shards(2)
    const host = await kubectl('get', 'pods', '-l', 'marketdata.fxd.dev/streampool', ...newest)
    if (host === '') return false
    const opening = new WebSocket(`ws://${host}:${httpPort}/v1/stream?api_key=${key}`)
    socket = await once(opening, 'open').then(
      () => opening,
      () => undefined,
    )
    return socket !== undefined
  })
  sockets.push(socket as WebSocket)
  const closed = once(socket as WebSocket, 'close')
  await pause(((60 + drainAtSecond - new Date().getSeconds()) % 60) * 1_000)
  await scaleShards(1)
  expect((await closed)[0]).toBe(1012)
  await alerts.expectFiring('FxdDrainForced')
  await shards(1)
  stopped = stopRepeatedly(await processesOfFirst('operator'), longStops, stopping.signal)
})

test('a defect in the handling of a message raises an alert', async () => {
  const [shard] = await processesOfFirst('stream')
  await injectDefect(shard)
  const socket = await openSocket()
  socket.send(defectMessage)
  expect((await once(socket, 'close'))[0]).toBe(1011)
  await alerts.expectFiring('FxdFault')
})

test('more connections than a shard accepts on its gRPC port raise an alert', async () => {
  const host = await podOf('stream', 'status.podIP')
  const strangers = Array.from({ length: shardConnectionsMax + 50 }, () =>
    connect(grpcPort, host).on('error', () => undefined),
  )
  onTestFinished(() => {
    for (const stranger of strangers) stranger.destroy()
  })
  await alerts.expectFiring('FxdConnectionsDropped')
})

test('a QuestDB that does not answer raises alerts for a gap at once and for rejected reads after minutes', async () => {
  const { questdb } = installed.stores
  const socket = await openSocket()
  const since = { 'DEMO:SIM:BTCUSD': Math.floor(Date.now() / 1_000) - 12 * 3_600 }
  await questdb.freeze()
  onTestFinished(() => questdb.thaw())
  socket.send(JSON.stringify({ action: 'subscribe', symbols: Object.keys(since), type: 'bar', since }))
  const path = '/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=300'
  // The first sample of a series is no increase.
  await outside.get(path, key)
  await pause(2 * scrapeSeconds * 1_000)
  const answers = await Promise.all(Array.from({ length: requests }, () => outside.get(path, key)))
  await alerts.expectFiring('FxdGaps')
  questdb.thaw()
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]))
  // It fires from the fifth to the tenth minute after the reads.
  await alerts.expectFiring('FxdStoreSlow')
})

test('a table that rejects rows raises an alert', async () => {
  await collector.bars('LIVE', [bars('COIN0', 0, 1)])
  const { questdb, sql } = installed.stores
  const tables = await questdb.exec(
    "SELECT table_name FROM tables() WHERE table_name LIKE 'fxd_bars_brokerb_live_m1%'",
  )
  expect(tables.length).toBeGreaterThan(0)
  for (const [table] of tables) await sql(`ALTER TABLE '${String(table)}' ALTER COLUMN v TYPE SHORT`)
  let minute = 1
  // Rows that are sent before the change is complete are converted and not rejected.
  await within(scrapedMs, 'a table out of order', async () => {
    collector.post('LIVE', [bars('COIN0', minute, 1, rejectedVolume)])
    minute += 1
    const [found] = await prometheus.query('max(fxd_questdb_tables_out_of_order)')
    return found !== undefined && found.value > 0
  })
  await alerts.expectFiring('FxdTableOutOfOrder')
})

test('a damaged spool raises an alert when its collector starts again', async () => {
  const volume = await kubectl('get', 'pvc/spool-demo-collector-0', '-o=jsonpath={.spec.volumeName}')
  const folder = await kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
  writeFileSync(join(folder, 'spool', 'DEMO-SIM', '0000000000.spool'), 'no records')
  await new CollectorPod({ kubectl, ready }, 'demo').restart()
  await alerts.expectFiring('FxdSpoolFailing')
})

test('a spool that fills up while QuestDB does not answer raises an alert', async () => {
  const firstTime = Math.floor(Date.now() / 60_000) * 60 - spooledMinutes * 60
  const [first, ...later] = minutes(firstTime, spooledMinutes, 1.1, 5)
  const exports = await ExportsFeed.apply(installed, spooledSymbols, [first as Bar])
  await ready('feed', ExportsFeed.object)
  const { questdb } = installed.stores
  await questdb.freeze()
  onTestFinished(() => questdb.thaw())
  for (const bar of later) {
    for (const symbol of spooledSymbols) exports.append(symbol, [bar])
    await pause(minuteMs)
  }
  await alerts.expectFiring('FxdBarsLost')
})

test('more than 10,000 live bars in an outage of Redis raise an alert', async () => {
  const { redis } = installed.stores
  await redis.kill()
  let isDown = true
  onTestFinished(async () => {
    if (isDown) await redis.start()
  })
  for (const symbol of symbols) await collector.bars('LIVE', [bars(symbol, 0, minutesPerSymbol)])
  await alerts.expectFiring('FxdBarsNotPushed')
  await redis.start()
  isDown = false
  await alerts.expectEnded('FxdBarsNotPushed', 'FxdRedisDown')
})

test('a full shard, slow answers and pushes, an offline terminal and a process that is often stopped raise alerts', async () => {
  await alerts.expectFiring('FxdShardFull', 'FxdEventLoopBlocked')
  const subscription = { action: 'subscribe', symbols: symbols.map((symbol) => `BROKERB:LIVE:${symbol}`) }
  for (const socket of sockets)
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(subscription))
  const shard = await processesOfFirst('stream')
  stopped = Promise.all([stopped, stopRepeatedly(shard, shortStops, stopping.signal)])
  const fired = new AbortController()
  collector.send({ heartbeat: { terminalConnected: false } })
  const pushing = pushBursts(fired.signal)
  try {
    // It counts the reads that waited for QuestDB, which leave its window half an hour later.
    await alerts.expectFiringWithin(slowAlertMs, 'FxdRestSlow')
    await alerts.expectFiring('FxdFeedOffline')
    await alerts.expectFiringWithin(slowAlertMs, 'FxdPushSlow')
  } finally {
    fired.abort()
  }
  await pushing
})

/** Pushes many bars of all symbols at once, again and again, until the signal is aborted. */
async function pushBursts(signal: AbortSignal): Promise<void> {
  for (let minute = minutesPerSymbol; !signal.aborted; minute += burstMinutes) {
    await collector.bars(
      'LIVE',
      symbols.map((symbol) => bars(symbol, minute, burstMinutes)),
    )
    await pause(burstMs, undefined, { signal }).catch(() => undefined)
  }
}

// After the alert of slow answers: its many fast requests would make the slow ones a small share.
test('a log that nobody reads raises an alert', async () => {
  const reader = outputReaderOf((await processesOfFirst('rest'))[0])
  process.kill(reader, 'SIGSTOP')
  onTestFinished(() => void process.kill(reader, 'SIGCONT'))
  const status = `http://${await podOf('rest', 'status.podIP')}:${httpPort}/v1/status`
  const dropped = new AbortController()
  const request = async (): Promise<void> => {
    while (!dropped.signal.aborted)
      await (await fetch(status, { headers: { 'x-api-key': key } })).arrayBuffer()
  }
  const requesting = Array.from({ length: requestsUnderWay }, request)
  try {
    await alerts.expectFiring('FxdLogDropped')
  } finally {
    dropped.abort()
  }
  await Promise.all(requesting)
})

test('every alert that another file leaves to this one fired', () => {
  expect([...alerts.fired].toSorted()).toEqual(reachedSeparately.toSorted())
})
