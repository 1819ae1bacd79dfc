import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { FeedSpec } from '../../../operator/kube/kinds.ts'
import { type ApiKeyObject, type FeedObject, resources } from '../../../operator/kube/resources.ts'
import { registryClient } from '../../../services/wire/unary-client.ts'
import { until } from '../../acceptance/client/until.ts'
import { ask, RepeatedCalls } from '../../faults/support/cluster-user.ts'
import { feed, manifest } from '../../faults/support/market.ts'
import { type Cluster, startCluster } from '../../support/cluster/cluster.ts'
import { rollOut } from '../../support/cluster/roll-out.ts'
import { startTraffic } from '../../support/cluster/start-traffic.ts'
import { fxd } from '../../support/fixtures/cli-fixture.ts'
import { simulatedFeed } from '../../support/samples/simulated-feed.ts'
import type { Traffic } from '../installed/traffic.ts'
import { openSetting, type Setting } from './support/setting.ts'

const startTimeoutMs = 300_000
const timeoutMs = 300_000
/** Interval at which the operator reads the registry and removes what has no object. */
const sweepMs = 15_000

const objects = parseAllDocuments(manifest + simulatedFeed).map(
  (each) => each.toJS() as { metadata: { name: string }; spec: FeedSpec },
)
const keys = [feed, 'BROKERB:LIVE']

const home = mkdtempSync(join(tmpdir(), 'fxd-owners-'))
let setting: Setting
let cluster: Cluster
let traffic: Traffic
let symbols: Awaited<ReturnType<typeof watchSymbols>>
let administration: ReturnType<typeof registryClient>
/** Whether ingest reads the manifests at its start. */
let readsManifests = true
beforeAll(async () => {
  const feeds = join(home, 'feeds.yaml')
  writeFileSync(feeds, manifest + simulatedFeed)
  setting = await openSetting(inject('apiServer'))
  cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 2,
    feeds,
    home: join(home, 'cluster'),
    podEnv: (name) => (name.startsWith('ingest') && !readsManifests ? { FXD_FEEDS: undefined } : {}),
  })
  const adminToken = readFileSync(cluster.token, 'utf8').trim()
  const ingest = `127.0.0.1:${cluster.grpcPort}`
  administration = registryClient(ingest, { token: adminToken })
  const used = await startTraffic(cluster, keys)
  traffic = used.traffic
  symbols = await watchSymbols(used.key)
  await (await setting.operator('operator-0', { ingest, adminToken })).start()
}, startTimeoutMs)
afterAll(async () => {
  await symbols?.stop()
  await traffic?.stop()
  administration?.close()
  await cluster?.stop()
  await setting?.close()
  rmSync(home, { recursive: true, force: true })
}, startTimeoutMs)

/** Reads all symbols from each rest process repeatedly, and counts answers that differ from the first. */
async function watchSymbols(key: string) {
  const pods = cluster.pods.filter(({ role }) => role === 'rest')
  const look = (port: number) => ask(port, '/v1/symbols?limit=1000', key)
  const [{ port } = { port: 0 }] = pods
  const first = JSON.stringify((await look(port)).body)
  const other: string[] = []
  let answers = 0
  const asking = new RepeatedCalls(1, 20, async () => {
    for (const { status, body } of await Promise.all(pods.map((pod) => look(pod.port)))) {
      answers += 1
      if (status !== 200 || JSON.stringify(body) !== first) other.push(`${status} ${JSON.stringify(body)}`)
    }
  })
  return {
    other,
    get answers() {
      return answers
    },
    stop: () => asking.stop(),
  }
}

const owners = async (): Promise<string[]> =>
  Promise.all(keys.map(async (key) => (await administration.call('GetFeed', { key })).owner))
const handOver = async (to: 'operator' | 'manifests'): Promise<void> =>
  expect(await fxd(`feeds owner ${to}`, cluster.commandEnv)).toMatchObject({ code: 0, err: '' })
async function replaceIngests(): Promise<void> {
  for (const name of ['ingest-1', 'ingest-2']) await rollOut(cluster, name)
}
/** Resolves once the operator has read the registry again. */
async function swept(): Promise<void> {
  const end = Date.now() + 2 * sweepMs
  await until('two reads of the registry', () => Date.now() > end, 3 * sweepMs)
}
const expectNothingMissed = async (what: string): Promise<void> => {
  await traffic.caughtUp()
  expect(traffic.checkPlanned()).toEqual([])
  expect(symbols.other).toEqual([])
  console.log(`${what}: 0 bars missed, 0 of ${symbols.answers} lists of symbols differ, ${traffic.summary()}`)
}

test('moving feeds from manifests to Feed objects under load misses no bar and hides no symbol', {
  timeout: timeoutMs,
}, async () => {
  for (const { metadata, spec } of objects) {
    await setting.applyFeed(metadata.name, spec)
    await setting.reason(resources.feeds, metadata.name, 'Refused')
  }
  readsManifests = false
  await replaceIngests()
  await handOver('operator')
  const uids = objects.map(async ({ metadata }) => {
    const object = await setting.get<FeedObject>(resources.feeds, metadata.name)
    return object?.metadata.uid
  })
  const wanted = await Promise.all(uids)
  await until('the objects to own the feeds', async () => String(await owners()) === String(wanted), 60_000)
  await setting.reason(resources.feeds, 'brokera-zero', 'Registered')
  await expectNothingMissed('to objects')
})

test('deleting the younger of two Feeds under load changes nothing', {
  timeout: timeoutMs,
}, async () => {
  const of = () => administration.call('GetFeed', { key: feed })
  const { version, owner } = await of()
  const [first] = objects
  await setting.applyFeed('twin', { ...first?.spec, description: 'Another' })
  await setting.reason(resources.feeds, 'twin', 'DuplicateKey')
  await setting.remove(resources.feeds, 'twin')
  await swept()
  expect(await of()).toMatchObject({ version, owner, hidden: false })
  await expectNothingMissed('the younger of two')
})

test('an ApiKey that is older than its Feed becomes active with it under load', {
  timeout: timeoutMs,
}, async () => {
  await setting.applyKey('early', { feeds: ['BROKERC:LATE'] })
  await setting.reason<ApiKeyObject>(resources.apikeys, 'early', 'FeedUnknown')
  await setting.applyFeed('late', { broker: 'BROKERC', account: 'LATE' })
  await setting.reason(resources.feeds, 'late', 'Registered')
  await setting.reason(resources.apikeys, 'early', 'Active')
  const secret = await setting.secret('early')
  const port = cluster.httpPort
  await until('the key to be known', async () => (await ask(port, '/v1/status', secret)).status === 200)
  for (const [of, name] of [
    [resources.apikeys, 'early'],
    [resources.feeds, 'late'],
  ] as const)
    await setting.remove(of, name)
  await expectNothingMissed('a key before its feed')
})

test('moving feeds from Feed objects to manifests under load misses no bar and hides no symbol', {
  timeout: timeoutMs,
}, async () => {
  await handOver('manifests')
  readsManifests = true
  await replaceIngests()
  for (const { metadata } of objects) {
    await setting.reason(resources.feeds, metadata.name, 'Refused')
    await setting.remove(resources.feeds, metadata.name)
  }
  await swept()
  expect(await owners()).toEqual(['', ''])
  await expectNothingMissed('to manifests')
})
