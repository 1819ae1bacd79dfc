import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { shardConnectionsMax } from '../../../services/wire/limits.ts'
import { within } from '../../faults/support/within.ts'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { monitoringKinds } from '../cluster/programs.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { type Installed, namespace, startInstalled } from '../installed/installed.ts'
import { apiKey, firstFeed, lateFeed, wideLimits } from '../installed/objects.ts'
import { Outside } from '../installed/outside.ts'
import { processesOf, stopRepeatedly } from '../installed/pod-processes.ts'
import { kubectlOf } from '../installed/under-load.ts'
import { ExpectedAlerts, reachedSeparately } from '../monitoring/expected-alerts.ts'
import { Prometheus } from '../monitoring/prometheus.ts'

/** Alerts of overload and of damage, with a real Prometheus. `prometheus.test.ts` has the other alerts. */
const startTimeoutMs = 900_000
const scrapedMs = 420_000
const scrapeSeconds = 5
const pingMs = 20_000
const grpcPort = 8090
const connectionsMax = 20
/** More than 90 % of the maximum. One socket less than the maximum, so that a test can open another. */
const openSockets = connectionsMax - 1
/** More than one key may have waiting while QuestDB does not answer. */
const requests = 300
const minutesPerSymbol = 1_440
const symbols = Array.from({ length: 8 }, (_, i) => `COIN${i}`)
/** A day of minutes that ends an hour ago. */
const begin = Math.floor(Date.now() / 60_000) * 60 - (minutesPerSymbol + 60) * 60
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
let stopped: Promise<void> | undefined
let pings: NodeJS.Timeout | undefined

const kubectl = (...args: readonly string[]): Promise<string> => kubectlOf(installed)(...args)
const ready = (kind: string, name: string): Promise<string> =>
  kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=150s')
const podOf = (component: string, path: string): Promise<string> =>
  kubectl('get', 'pods', '-l', `app.kubernetes.io/component=${component}`, `-o=jsonpath={.items[0].${path}}`)
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
  await installed.cluster.apply(pushFeed, apiKey('load', { ...wideLimits, feeds: ['DEMO:SIM'] }))
  await Promise.all(['demo', 'brokerb-live'].map((name) => ready('feed', name)))
  await kubectl('scale', 'streampool/fxd-stream', '--replicas=1')
  await installed.upgrade({
    monitoring: { podMonitor: { interval: `${scrapeSeconds}s` } },
    stream: { connectionsMax },
  })
  await within(scrapedMs, 'one shard', async () => {
    const pods = await kubectl('get', 'pods', '-l', 'marketdata.fxd.dev/streampool', '-o=name')
    return pods.trim().split('\n').length === 1
  })
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
  stopped = stopRepeatedly(
    await processesOf(kubectl, `pod/${await podOf('operator', 'metadata.name')}`),
    stopping.signal,
  )
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
  const answers = await Promise.all(Array.from({ length: requests }, () => outside.get(path, key)))
  await alerts.expectFiring('FxdGaps')
  questdb.thaw()
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]))
  // It fires from the fifth to the tenth minute after the reads.
  await alerts.expectFiring('FxdStoreSlow')
})

test('a row that QuestDB rejects raises an alert', async () => {
  await collector.bars('LIVE', [bars('COIN0', 0, 1)])
  const { questdb, sql } = installed.stores
  const tables = await questdb.exec(
    "SELECT table_name FROM tables() WHERE table_name LIKE 'fxd_bars_brokerb_live_m1%'",
  )
  expect(tables.length).toBeGreaterThan(0)
  for (const [table] of tables) await sql(`ALTER TABLE '${String(table)}' ALTER COLUMN v TYPE SHORT`)
  let minute = 1
  // Rows that are sent before the change is complete are converted and not rejected.
  await within(scrapedMs, 'a parked row', async () => {
    await collector.bars('LIVE', [bars('COIN0', minute, 1, rejectedVolume)])
    minute += 1
    const [parked] = await prometheus.query('sum(fxd_questdb_parked_rows_total)')
    return parked !== undefined && parked.value > 0
  })
  await alerts.expectFiring('FxdRowsParked')
})

test('a damaged spool raises an alert when its collector starts again', async () => {
  const volume = await kubectl('get', 'pvc/spool-demo-collector-0', '-o=jsonpath={.spec.volumeName}')
  const folder = await kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
  writeFileSync(join(folder, 'spool', 'DEMO-SIM', '0000000000.spool'), 'no records')
  const pod = new CollectorPod({ kubectl, ready }, 'demo')
  await pod.restart()
  await alerts.expectFiring('FxdSpoolFailing')
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

test('a shard that is almost full and a process that is often stopped raise alerts after minutes', async () => {
  await alerts.expectFiring('FxdShardFull', 'FxdEventLoopBlocked')
})

test('every alert that another file leaves to this one fired', () => {
  expect([...alerts.fired].toSorted()).toEqual(reachedSeparately.toSorted())
})
