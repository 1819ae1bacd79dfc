import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ApiKeySpec } from '../../../operator/kube/kinds.ts'
import { type ApiKeyObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import { ask } from '../../faults/support/cluster-user.ts'
import { feed } from '../../faults/support/market.ts'
import { type Cluster, startCluster } from '../../support/cluster/cluster.ts'
import { backUp, restoreInto } from '../../support/questdb/backup.ts'
import { oneSymbolFeed, pushed } from '../../support/samples/one-symbol-feed.ts'
import { run } from '../cluster/kubectl.ts'
import { kubernetesPrograms } from '../cluster/programs.ts'
import { applyKinds, type RunningApiServer, startApiServer } from './support/api-server.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { makeNamespace, openSetting, type Setting } from './support/setting.ts'

const startTimeoutMs = 300_000
const timeoutMs = 300_000
/** Maximum time of a namespace's deletion, because fxd adds no finalizers. */
const namespaceGoneMs = 60_000
const knownMs = 60_000

const home = mkdtempSync(join(tmpdir(), 'fxd-lost-'))
let server: RunningApiServer
let setting: Setting
let cluster: Cluster
let operator: OperatorProcess
beforeAll(async () => {
  const feeds = join(home, 'feeds.yaml')
  writeFileSync(feeds, oneSymbolFeed(pushed))
  server = await startApiServer('namespace-controller')
  setting = await openSetting(server)
  cluster = await startCluster({
    rest: 1,
    stream: 1,
    ingest: 1,
    feeds,
    home: join(home, 'cluster'),
    podEnv: (name) => (name.startsWith('ingest') ? { FXD_FEEDS: undefined } : {}),
  })
  operator = await setting.operator('operator-0', {
    ingest: `127.0.0.1:${cluster.grpcPort}`,
    adminToken: readFileSync(cluster.token, 'utf8').trim(),
  })
  await operator.start()
}, startTimeoutMs)
afterAll(async () => {
  await operator?.kill()
  await cluster?.stop()
  await setting?.close()
  await server?.stop()
  rmSync(home, { recursive: true, force: true })
}, startTimeoutMs)

const kubectl = (...args: readonly string[]): Promise<string> =>
  run([kubernetesPrograms().kubectl, `--kubeconfig=${server.kubeconfig}`, ...args])
const status = async (key: string): Promise<number> => (await ask(cluster.httpPort, '/v1/status', key)).status
const answers = (key: string, wanted: number): Promise<boolean> =>
  until(`${wanted} for a key`, async () => (await status(key)) === wanted, knownMs)
const own = `fxd_${'c'.repeat(32)}`
const putOwn = (): Promise<unknown> =>
  setting.admin.apply(setting.path(resources.secrets), {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'my-own' },
    data: { token: Buffer.from(own).toString('base64') },
  } as never)
async function madeKey(name: string, spec: Partial<ApiKeySpec> = {}, reason = 'Active'): Promise<string> {
  await setting.applyKey(name, { feeds: [feed], ...spec })
  await setting.reason<ApiKeyObject>(resources.apikeys, name, reason)
  return setting.secret(name)
}

/** Makes keys of each kind. Returns the secrets that must be valid at the end, and those that must not. */
async function makeKeys() {
  await putOwn()
  await setting.applyKey('own', {
    feeds: [feed],
    keyFrom: { secretKeyRef: { name: 'my-own', key: 'token' } },
  })
  await setting.reason(resources.apikeys, 'own', 'Active')
  const plain = await madeKey('plain')
  const once = await madeKey('rotated-before', { overlap: '1h' })
  const twice = await madeKey('rotated-before', { overlap: '1h', issue: 2 })
  const later = await madeKey('rotated-after')
  const late = await madeKey('revoked-after')
  const revoked = await madeKey('revoked')
  await madeKey('revoked', { revoked: true }, 'Revoked')
  return { open: { own, plain, once, twice }, shut: { revoked, later, late } }
}

async function startAll(): Promise<void> {
  for (const { program } of cluster.pods) program.begin()
  await Promise.all(cluster.pods.map(({ program }) => program.ready()))
}

test('after kinds, namespace and QuestDB are lost and restored, every key is valid with its secret', {
  timeout: timeoutMs,
}, async () => {
  await setting.applyFeed('zero')
  await setting.reason(resources.feeds, 'zero', 'Registered')
  const { open, shut } = await makeKeys()
  for (const key of Object.values(open)) await answers(key, 200)
  const archive = join(home, 'backup.tar')
  await backUp(cluster.questdb, archive)

  // A key that the backup lacks.
  const newest = await madeKey('newest')
  const rotated = await madeKey('rotated-after', { overlap: '0s', issue: 2 })
  await madeKey('revoked-after', { revoked: true }, 'Revoked')
  for (const key of [newest, rotated]) await answers(key, 200)
  for (const key of Object.values(shut)) await answers(key, 401)
  const dump = join(home, 'dump.yaml')
  const kinds = ['feeds', 'streampools', 'apikeys']
  const saved = await kubectl('get', [...kinds, 'secrets'].join(','), '-n', setting.namespace, '-o=yaml')
  writeFileSync(dump, saved)

  await operator.stop()
  const begun = performance.now()
  await kubectl('delete', 'namespace', setting.namespace, `--timeout=${namespaceGoneMs / 1_000}s`)
  const goneMs = performance.now() - begun
  await kubectl('delete', 'crd', ...kinds.map((kind) => `${kind}.marketdata.fxd.dev`), '--timeout=60s')
  for (const { program } of cluster.pods) expect(await program.stop('SIGINT')).toBe(0)
  await restoreInto(cluster.questdb, archive)

  await applyKinds(setting.admin)
  await makeNamespace(setting.admin, setting.namespace)
  await kubectl('apply', '-n', setting.namespace, '-f', dump)
  await startAll()
  await operator.start()
  for (const name of ['own', 'plain', 'rotated-before', 'rotated-after', 'newest'])
    await setting.reason(resources.apikeys, name, 'Active')
  for (const key of [...Object.values(open), newest, rotated]) await answers(key, 200)
  for (const key of Object.values(shut)) await answers(key, 401)
  expect([await setting.secret('plain'), await setting.secret('newest')]).toEqual([open.plain, newest])
  console.log(
    `the namespace was gone after ${Math.round(goneMs)} ms; 6 secrets of 7 keys open again, 3 stay refused`,
  )
})
