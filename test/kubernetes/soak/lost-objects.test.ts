import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Repeated } from '../../faults/cluster-user.ts'
import { seeded } from '../../faults/seeded.ts'
import { StreamClient } from '../../faults/stream-client.ts'
import { within } from '../../faults/within.ts'
import { backUp, restoreInto } from '../../support/questdb/backup.ts'
import { deliveredKey } from '../cluster/delivered-key.ts'
import { charts, namespace } from '../cluster/installed.ts'
import { firstFeed, workKey } from '../cluster/objects.ts'
import { startUnderLoad, type UnderLoad } from '../cluster/under-load.ts'

/** A store, and everything of a namespace, is lost and restored by the steps of docs/operations.md. */
const startTimeoutMs = 900_000
const patienceMs = 300_000
const patient = { timeout: patienceMs, interval: 500 }
const kinds = ['feeds', 'streampools', 'apikeys']
/** Batches that the collector keeps before the store is restored: it brings one a minute. */
const batchesAway = 3

const home = mkdtempSync(join(tmpdir(), 'fxd-lost-'))
let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad()
  await loaded.kubectl('apply', '-f', firstFeed)
  await Promise.all([loaded.ready('feed', 'demo'), loaded.ready('apikey', 'first')])
}, startTimeoutMs)
afterAll(async () => {
  await loaded?.installed.stop()
  rmSync(home, { recursive: true, force: true })
})

const statusOf = async (key: string): Promise<number> => (await loaded.outside.get('/v1/status', key)).status
const history = (key: string) =>
  loaded.outside.get('/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=100', key)
const isServed = async (key: string): Promise<unknown> => ((await history(key)).body as { s?: unknown }).s
const keyOf = (name: string): Promise<string> => deliveredKey(loaded.installed.cluster, namespace, name)
const podsOf = async (component: string): Promise<readonly string[]> => {
  const names = await loaded.kubectl('get', 'pods', `-l=app.kubernetes.io/component=${component}`, '-o=name')
  return names.split('\n').filter(Boolean)
}
const gone = (component: string): Promise<void> =>
  within(
    patienceMs,
    `the pods of ${component} to be gone`,
    async () => (await podsOf(component)).length === 0,
  )
async function spooled(): Promise<number> {
  const [pod = ''] = await podsOf('collector')
  const path = `/api/v1/namespaces/${namespace}/pods/${pod.split('/')[1]}:9464/proxy/metrics`
  const text = await loaded.kubectl('get', '--raw', path)
  return Number(/^fxd_collector_spool_batches (\d+)/m.exec(text)?.[1])
}
/** The chart with the values of the first installation. */
const helm = (verb: 'install' | 'upgrade'): Promise<string> => {
  const { cluster } = loaded.installed
  const values = ['-f', join(cluster.folder, 'values.json')]
  const waiting = ['--force-conflicts', '--wait', '--timeout=10m']
  return cluster.helm(verb, 'fxd', join(charts, 'fxd'), '-n', namespace, ...values, ...waiting)
}

test('QuestDB is lost with its volume and restored from an older backup: sockets stay open, and history is whole in the end', async () => {
  const { outside, traffic, kubectl, installed } = loaded
  const { questdb } = installed.stores
  const key = await keyOf('first')
  const client = new StreamClient({
    name: 'simulated',
    url: outside.ws,
    connection: outside.connection,
    key,
    feed: 'DEMO:SIM',
    symbols: ['BTCUSD'],
    resumes: true,
    random: seeded().random,
  }).start()
  const bars = (): number => client.lives.reduce((sum, { seen }) => sum + seen.length, 0)
  await within(patienceMs, 'a first bar', () => bars() > 0)
  const archive = join(home, 'older.tar')
  await backUp(questdb, archive)
  await traffic.caughtUp()
  const [had, ends] = [bars(), new Map(traffic.ends)]
  const answers: { readonly status: number; readonly atMs: number; readonly retryAfter?: string }[] = []
  const asking = new Repeated(1, 250, async () => {
    const { status, headers } = await history(key)
    const retryAfter = headers['retry-after']
    answers.push({ status, atMs: performance.now(), ...(retryAfter !== undefined && { retryAfter }) })
  })

  const lostMs = performance.now()
  await questdb.kill()
  rmSync(questdb.folder, { recursive: true, force: true })
  await within(patienceMs, 'a spool that grows', async () => (await spooled()) >= batchesAway)
  const pushed = bars() - had
  expect((await outside.get('/v1/status', key)).body).toMatchObject({ status: 'degraded' })
  expect([traffic.ends, client.ends]).toEqual([ends, new Map()])

  const stopping = ['deploy/fxd-rest', 'deploy/fxd-ingest', 'deploy/fxd-operator', '--replicas=0']
  await kubectl('scale', ...stopping)
  await gone('operator')
  await kubectl('scale', 'deploy/fxd-stream', '--replicas=0')
  for (const component of ['rest', 'ingest', 'stream']) await gone(component)
  await restoreInto(questdb, archive)
  await helm('upgrade')
  await loaded.shards(2)

  await expect.poll(() => isServed(key), patient).toBe('ok')
  await expect.poll(spooled, patient).toBe(0)
  await traffic.caughtUp()
  await asking.stop()
  expect(traffic.judgeUnplanned()).toEqual([])
  const away = answers.filter(({ atMs, status }) => atMs > lostMs && status !== 200)
  const refused = away.filter(({ status }) => status === 500)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.filter(({ retryAfter }) => retryAfter === undefined)).toEqual([])
  const { t = [] } = (await history(key)).body as { t?: readonly number[] }
  const missing = t.filter((time, i) => i > 0 && time !== (t[i - 1] ?? 0) + 60)
  expect(missing).toEqual([])
  await client.stop()
  const withoutMs = (away.at(-1)?.atMs ?? lostMs) - lostMs
  console.log(
    `${(withoutMs / 60_000).toFixed(1)} minutes without history, ${refused.length} answers of 500 with Retry-After, ` +
      `0 of ${t.length} minutes missing at the end, ${pushed} bars pushed while the store was away; ${traffic.summary()}`,
  )
})

/** What the steps save, and what no chart makes: the stores of this test stand outside. Gives the files in their order. */
async function dump(): Promise<readonly string[]> {
  const saved = [
    ['secrets', '--field-selector=type!=helm.sh/release.v1'],
    [kinds.join(',')],
    ['service/questdb', 'service/redis'],
    ['endpointslice/questdb-process', 'endpointslice/redis-process'],
  ]
  return Promise.all(
    saved.map(async (words, i) => {
      const file = join(home, `${i}.yaml`)
      writeFileSync(file, await loaded.kubectl('get', ...words, '-o=yaml'))
      return file
    }),
  )
}

test('both charts are uninstalled and the namespace deleted within a minute; restored with an older QuestDB, all keys open with their secrets', async () => {
  const { kubectl, ready, traffic, installed } = loaded
  const { cluster, stores } = installed
  await traffic.stop()
  const older = await keyOf('load')
  const archive = join(home, 'backup.tar')
  await backUp(stores.questdb, archive)
  await cluster.apply(workKey({ issue: 1 }))
  await ready('apikey', 'work')
  const newest = await keyOf('work')
  await kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
  await loaded.shards(3)
  await expect.poll(() => isServed(newest), patient).toBe('ok')
  const files = await dump()

  const begunMs = performance.now()
  await cluster.helm('uninstall', 'fxd', '-n', namespace, '--wait')
  await cluster.helm('uninstall', 'fxd-crds', '--wait')
  const uninstalledMs = performance.now()
  await cluster.kubectl('delete', 'namespace', namespace, '--timeout=60s')
  const goneMs = performance.now()
  await cluster.kubectl(
    'delete',
    'crd',
    ...kinds.map((kind) => `${kind}.marketdata.fxd.dev`),
    '--timeout=60s',
  )
  await restoreInto(stores.questdb, archive)

  await cluster.helm('install', 'fxd-crds', join(charts, 'fxd-crds'), '--wait')
  await cluster.kubectl('create', 'namespace', namespace)
  for (const file of files) await kubectl('apply', '-f', file)
  await helm('install')
  await Promise.all([ready('feed', 'demo'), ready('apikey', 'load'), ready('apikey', 'work')])
  for (const key of [older, newest]) await expect.poll(() => statusOf(key), patient).toBe(200)
  expect(await keyOf('work')).toBe(newest)
  expect(await kubectl('get', 'streampool/fxd-stream', '-o=jsonpath={.spec.replicas}')).toBe('3')
  await expect.poll(() => isServed(newest), patient).toBe('ok')
  const seconds = (from: number, to: number): string => `${Math.round((to - from) / 1_000)} s`
  console.log(
    `uninstalled in ${seconds(begunMs, uninstalledMs)}, namespace deleted in ${seconds(uninstalledMs, goneMs)}, 2 of 2 keys open again`,
  )
})
