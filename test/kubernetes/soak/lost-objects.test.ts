import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backUp, restoreInto } from '../../support/questdb/backup.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { charts, namespace } from '../installed/installed.ts'
import { firstFeed, workKey } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'

/** Loss of a whole namespace and its restore by the steps of docs/kubernetes.md. */
const startTimeoutMs = 900_000
const patienceMs = 300_000
const patient = { timeout: patienceMs, interval: 500 }
const kinds = ['feeds', 'streampools', 'apikeys']

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
const isServed = async (key: string): Promise<unknown> => {
  const { body } = await loaded.outside.get(
    '/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=100',
    key,
  )
  return (body as { s?: unknown }).s
}
const keyOf = (name: string): Promise<string> => deliveredKey(loaded.installed.cluster, namespace, name)
/** The chart with the values of the first installation. */
const install = (): Promise<string> => {
  const { cluster } = loaded.installed
  const values = ['-f', join(cluster.folder, 'values.json')]
  const waiting = ['--force-conflicts', '--wait', '--timeout=10m']
  return cluster.helm('install', 'fxd', join(charts, 'fxd'), '-n', namespace, ...values, ...waiting)
}

/** Saves what the steps save, and the stores' Secret, which no chart makes. Returns the files in order. */
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

test('after both charts and the namespace are removed and restored, all keys are valid with their secrets', async () => {
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
  await install()
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
