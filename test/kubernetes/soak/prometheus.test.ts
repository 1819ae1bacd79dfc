import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { within } from '../../faults/support/within.ts'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { domain, ports } from '../cluster/ingress.ts'
import { monitoringKinds } from '../cluster/programs.ts'
import { type Installed, namespace, startInstalled } from '../installed/installed.ts'
import { apiKey, firstFeed, lateFeed } from '../installed/objects.ts'
import { Outside } from '../installed/outside.ts'
import { kubectlOf } from '../installed/under-load.ts'
import { ExpectedAlerts, notReached, reachedSeparately } from '../monitoring/expected-alerts.ts'
import { namedSeries } from '../monitoring/named-series.ts'
import { Prometheus } from '../monitoring/prometheus.ts'

/**
 * Runs a real Prometheus with the chart's PodMonitor and PrometheusRule: no series is missing, alerts fire in their
 * situations, and none fires in a service without failures.
 */
const startTimeoutMs = 900_000
const alertMs = 420_000
/** For alerts that follow states of a quarter of an hour. */
const slowAlertMs = 1_320_000
const quietSeconds = 150
const lateSymbol = 'BROKERB:LIVE:BTCUSD'
const components = ['canary', 'collector', 'ingest', 'operator', 'rest', 'stream']
const startMinute = Math.floor(Date.now() / 60_000) * 60 - 3_600

/** A Feed that is applied while no ingest runs. */
const waitingFeed = {
  ...lateFeed,
  metadata: { ...lateFeed.metadata, name: 'waiting' },
  spec: { ...lateFeed.spec, broker: 'BROKERC' },
}

let installed: Installed
let prometheus: Prometheus
let alerts: ExpectedAlerts
let late: RawSession
/** Connects the collector of a Push feed outside of the cluster. */
let connectLate: () => Promise<RawSession>

beforeAll(async () => {
  installed = await startInstalled()
  await kubectl('apply', '--server-side', ...monitoringKinds().flatMap((file) => ['-f', file]))
  await kubectl('apply', '-f', firstFeed)
  const authority = readFileSync(installed.ca, 'utf8')
  await installed.cluster.apply(lateFeed, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'authority', namespace },
    stringData: { 'ca.crt': authority },
  })
  await Promise.all(['demo', 'brokerb-live'].map((name) => ready('feed', name)))
  await installed.upgrade({
    monitoring: { podMonitor: { interval: '5s' } },
    canary: {
      enabled: true,
      // Its market never closes.
      symbols: ['DEMO:SIM:BTCUSD', lateSymbol],
      restUrl: `https://${domain}:${ports.https}`,
      streamUrl: `wss://${domain}:${ports.https}`,
      caSecret: 'authority',
      hostAliases: [{ ip: installed.cluster.network.address, hostnames: [domain] }],
      settleSeconds: 5,
    },
  })
  prometheus = await Prometheus.start(installed.cluster, namespace)
  alerts = new ExpectedAlerts(prometheus)
  const token = await kubectl('get', 'secret', 'brokerb-live-token', '-o=jsonpath={.data.token}')
  const ingest = await new Outside(installed).exposeIngest()
  connectLate = async () => {
    const session = new RawSession(ingest, Buffer.from(token, 'base64').toString().trim())
    await session.hello('BROKERB:LIVE', { id: 'late' })
    return session
  }
  late = await connectLate()
}, startTimeoutMs)
afterAll(async () => {
  late?.stream.cancel()
  await prometheus?.stop()
  await installed?.stop()
})

const kubectl = (...args: readonly string[]): Promise<string> => kubectlOf(installed)(...args)
const ready = (kind: string, name: string): Promise<string> =>
  kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=150s')
const bar = (minute: number) => seriesAt('BTCUSD', [startMinute + minute * 60], { scale: 2 })
const scale = (name: string, replicas: number): Promise<string> =>
  kubectl('scale', `deploy/${name}`, `--replicas=${replicas}`)

test('every pod of every component is scraped', async () => {
  await within(alertMs, 'all targets', async () => {
    const targets = await prometheus.targets()
    return targets.length > 0 && targets.every(({ health }) => health === 'up')
  })
  const targets = await prometheus.targets()
  const found = new Set(targets.map(({ labels }) => labels['app_kubernetes_io_component'] ?? ''))
  expect([...found].toSorted((a, b) => a.localeCompare(b))).toEqual(components)
  const pods = (await kubectl('get', 'pods', '--field-selector=status.phase=Running', '-o=name')).trim()
  expect(targets.map(({ labels }) => `pod/${labels['pod']}`).toSorted()).toEqual(pods.split('\n').toSorted())
})

test('every metric in rules, dashboard and runbooks exists with its labels', async () => {
  const named = namedSeries()
  expect(named.length).toBeGreaterThan(150)
  const missing = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      named.map(async ({ file, selector }) => {
        const isThere = (await prometheus.query(`count(${selector})`)).length > 0
        return isThere ? [] : [`${file}: ${selector}`]
      }),
    )
    return found.flat()
  }
  await within(alertMs, 'all series', async () => (await missing()).length === 0).catch(() => undefined)
  expect(await missing()).toEqual([])
})

test('no alert fires in a service without failures, nor while shards are added', async () => {
  await kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
  await ready('streampool', 'fxd-stream')
  await pause(quietSeconds * 1_000)
  expect(await prometheus.firedWithin(quietSeconds)).toEqual([])
})

test('the canary gets bars of all its feeds through the ingress and misses none', async () => {
  const sum = async (expression: string): Promise<number> =>
    (await prometheus.query(expression))[0]?.value ?? -1
  for (const minute of [0, 1, 2, 4]) await late.bars('LIVE', [bar(minute)])
  const pushed = 'min by () (sum by (feed) (fxd_canary_pushed_bars_total))'
  await within(alertMs, 'bars of both feeds', async () => (await sum(pushed)) > 0)
  expect(await sum('sum(fxd_canary_missed_bars_total)')).toBe(0)
  expect(await sum('min(fxd_canary_socket_open)')).toBe(1)
  const arrival = 'sum by (le) (fxd_canary_arrival_seconds_bucket{feed="DEMO:SIM"})'
  console.log('arrival of bars of the simulator:', JSON.stringify(await prometheus.query(arrival)))
})

test('a bar that only history has, and a reused sequence, raise alerts at once', async () => {
  await late.bars('BACKFILL', [bar(3)])
  const sequence = late.post('LIVE', [bar(5)])
  await late.answer(sequence)
  late.send({ bars: { sequence, lane: 'LANE_LIVE', series: [bar(6)] } })
  await alerts.expectFiring('FxdCanaryMissedBars', 'FxdIngestAlarm')
})

test('a Redis setting that loses data raises an alert', async () => {
  const { redis } = installed.stores
  /** Changes the policy and reconnects all pods, which check it when they connect. */
  const restartedWith = async (policy: string): Promise<void> => {
    await redis.command(`CONFIG SET maxmemory-policy ${policy}`)
    for (const type of ['normal', 'pubsub']) await redis.command(`CLIENT KILL TYPE ${type}`)
  }
  await restartedWith('allkeys-lru')
  await alerts.expectFiring('FxdStoreUnsafe')
  await restartedWith('noeviction')
  await alerts.expectEnded('FxdStoreUnsafe')
})

test('an unavailable Redis and API server raise alerts until they are back', async () => {
  const { redis } = installed.stores
  const { controlPlane } = installed.cluster
  await controlPlane.killApi()
  await redis.kill()
  await alerts.expectFiring('FxdRedisDown')
  await alerts.expectFiring('FxdOperatorNotLeading')
  await alerts.expectFiring('FxdSlotsFailing', 'FxdOperatorNotSynced')
  await redis.start()
  await controlPlane.startApi()
  await alerts.expectEnded('FxdRedisDown', 'FxdOperatorNotLeading', 'FxdOperatorNotSynced')
})

test('the end of a collector outside of the cluster raises an alert until it is back', async () => {
  late.stream.cancel()
  await alerts.expectFiring('FxdFeedNotCollected')
  late = await connectLate()
  await alerts.expectEnded('FxdFeedNotCollected')
})

test('an unavailable QuestDB and a suspended table raise alerts', async () => {
  const { questdb, sql } = installed.stores
  await questdb.kill()
  await alerts.expectFiring('FxdStoreDegraded', 'FxdRestFailing', 'FxdRestFailingSlowly')
  await questdb.start()
  await alerts.expectEnded('FxdStoreDegraded')
  // A table without writes in this run: no daily bar closes.
  const table = 'fxd_bars_demo_sim_d1'
  await sql(`ALTER TABLE '${table}' SUSPEND WAL`)
  await alerts.expectFiring('FxdTableSuspended')
  await sql(`ALTER TABLE '${table}' RESUME WAL`)
  await alerts.expectEnded('FxdTableSuspended')
})

test('parts without a pod raise alerts, and so do many keys that are deleted meanwhile', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `short-lived-${i}`)
  await installed.cluster.apply(...names.map((name) => apiKey(name, { plan: 'basic', feeds: ['DEMO:SIM'] })))
  await Promise.all(names.map((name) => ready('apikey', name)))
  const replicas = { 'fxd-operator': 2, 'fxd-ingest': 2, 'fxd-rest': 2 }
  await scale('fxd-operator', 0)
  const operators = ['pod', '-l', 'app.kubernetes.io/component=operator'] as const
  await kubectl('wait', '--for=delete', ...operators, '--timeout=120s')
  await kubectl('delete', 'apikey', ...names)
  await Promise.all(['fxd-ingest', 'fxd-rest'].map((name) => scale(name, 0)))
  await alerts.expectFiring('FxdNoIngest', 'FxdNotServing', 'FxdFeedNotCollected')
  for (const [name, count] of Object.entries(replicas)) await scale(name, count)
  await alerts.expectFiring('FxdDeletionHeld')
  const lease = ['annotate', 'lease', 'fxd-operator', '--overwrite'] as const
  await kubectl(...lease, `marketdata.fxd.dev/allow-mass-deletion=${names.length} apikeys`)
  late = await connectLate()
  await alerts.expectEnded('FxdNoIngest', 'FxdNotServing', 'FxdFeedNotCollected', 'FxdDeletionHeld')
})

test('a quarter of an hour without ingest raises alerts until it is back', async () => {
  const those = [
    'FxdSpoolGrowing',
    'FxdObjectsNotReady',
    'FxdOperatorRegistryUnreachable',
    'FxdOperatorFailing',
  ]
  // A new leader that cannot read the registry counts no failures. With one replica the leader does not change.
  await scale('fxd-operator', 1)
  const leaders = 'fxd_operator_leader * on (pod) fxd_operator_registry_reachable'
  await within(alertMs, 'one operator that leads and has read the registry', async () => {
    const found = await prometheus.query(`count(fxd_operator_leader) == 1 and sum(${leaders}) == 1`)
    return found.length === 1
  })
  await scale('fxd-ingest', 0)
  await installed.cluster.apply(waitingFeed)
  await alerts.expectFiringWithin(slowAlertMs, ...those)
  await scale('fxd-ingest', 2)
  await ready('feed', 'waiting')
  await scale('fxd-operator', 2)
  await alerts.expectEnded(...those)
})

test('pods of a node without power raise alerts, and so does a canary with a revoked key', async () => {
  const revoked = JSON.stringify({ spec: { revoked: true } })
  await kubectl('patch', 'apikey/fxd-canary', '--type=merge', '-p', revoked)
  await within(alertMs, 'the socket of the canary to be closed', async () => {
    const [open] = await prometheus.query('max(fxd_canary_socket_open)')
    return open?.value === 0
  })
  const canary = ['pods', '-l', 'app.kubernetes.io/component=canary'] as const
  const itsNode = await kubectl('get', ...canary, '-o=jsonpath={.items[0].spec.nodeName}')
  const node = installed.cluster.nodes.find(({ name }) => name !== itsNode)
  if (node === undefined) throw new Error('there is no second node')
  await node.powerCut()
  await alerts.expectFiring('FxdTargetDown', 'FxdCanaryNotServed')
  await node.start()
  await alerts.expectEnded('FxdTargetDown')
})

test('every alert fired in a scenario of this run, or is reached elsewhere or not at all', async () => {
  // The bars of the canary's feed arrive an hour late.
  await alerts.expectFiring('FxdCanarySlow')
  const others: readonly string[] = [...reachedSeparately, ...Object.keys(notReached)]
  const all = await prometheus.alerts()
  expect(all.filter((alert) => alerts.fired.has(alert) === others.includes(alert))).toEqual([])
})
