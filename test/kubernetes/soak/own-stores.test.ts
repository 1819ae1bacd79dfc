import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { RepeatedCalls } from '../../faults/support/cluster-user.ts'
import { feed } from '../../faults/support/market.ts'
import { run } from '../cluster/kubectl.ts'
import { kubernetesPrograms } from '../cluster/programs.ts'
import { outOfService, type Worker } from '../cluster/worker.ts'
import { buildStoresImage } from '../image/build-stores-image.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { namespace } from '../installed/installed.ts'
import { apiKey, firstFeed, wideLimits } from '../installed/objects.ts'
import { restartRole, restartWorkload } from '../installed/restart.ts'
import { secretValue, startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, flows, recoveryMs } from './expect-nothing-missed.ts'

/**
 * The QuestDB, the Redis and the backup that the chart starts for a first installation. One image of the tests replaces
 * the three public ones. The outside stores of other suites also run, but nothing uses them.
 */
const startTimeoutMs = 900_000
const patient = { timeout: recoveryMs, interval: 1_000 }
const minutesShown = 300
/** More than a role needs to use QuestDB again after its restart. */
const reconnectedMs = 10_000
const image = { repository: 'fxd.test/stores', tag: '1', pullPolicy: 'Never' }
const values = {
  questdb: {
    enabled: true,
    image,
    heap: '512m',
    storage: { size: '4Gi' },
    backup: { enabled: true, image, storage: { size: '8Gi' } },
  },
  redis: { enabled: true, image, storage: { size: '1Gi' } },
}
const operations = join(import.meta.dirname, '../../../docs/kubernetes.md')

let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad({
    nodes: 3,
    hoursBack: 23,
    images: async (into) => [await buildStoresImage(`${image.repository}:${image.tag}`, into)],
    prepare: () => Promise.resolve(values),
  })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const podReady = async (pod: string): Promise<void> => {
  await loaded.kubectl('wait', '--for=create', `pod/${pod}`, '--timeout=120s')
  await loaded.kubectl('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=300s')
}

test('acknowledged bars survive a deletion of the pods of QuestDB and Redis', async () => {
  await flows(loaded, 20)
  for (const pod of ['fxd-questdb-0', 'fxd-redis-0']) {
    await loaded.kubectl('delete', 'pod', pod)
    await podReady(pod)
    await flows(loaded, 20)
  }
  await expectNothingMissed(loaded, 'pods of QuestDB and Redis deleted')
})

test('the documented rotation of a Redis password misses no bar', async () => {
  const [old, next] = [await secretValue(loaded.kubectl, 'fxd-redis-rest', 'password'), 'another-password']
  const write = (data: object): Promise<string> =>
    loaded.kubectl('patch', 'secret', 'fxd-redis-rest', '--type=merge', '-p', JSON.stringify(data))
  await write({ stringData: { password: next, 'previous-password': old } })
  await restartWorkload(loaded, 'statefulset/fxd-redis')
  await restartRole(loaded, 'rest')
  await write({ data: { 'previous-password': null } })
  await restartWorkload(loaded, 'statefulset/fxd-redis')
  await flows(loaded, 20)
  await expectNothingMissed(loaded, 'password of Redis rotated')
})

test('the documented rotation of the QuestDB passwords misses no bar', async () => {
  const key = await deliveredKey(loaded.installed.cluster, namespace, 'load')
  const history = async (): Promise<number> => {
    const { status } = await loaded.outside.get(
      `/v1/history?symbol=${feed}:EURUSD&resolution=1&countback=${minutesShown}`,
      key,
    )
    return status
  }
  const changePassword = async (user: string): Promise<void> => {
    const patch = JSON.stringify({ stringData: { password: `another-password-of-the-${user}` } })
    await loaded.kubectl('patch', 'secret', `fxd-questdb-${user}`, '--type=merge', '-p', patch)
    await restartWorkload(loaded, 'statefulset/fxd-questdb')
    await pause(reconnectedMs)
  }

  await changePassword('writer')
  const before = loaded.traffic.acknowledged.size
  await pause(reconnectedMs)
  expect(loaded.traffic.acknowledged.size).toBe(before)
  await restartRole(loaded, 'ingest')
  await flows(loaded, 20)
  expect(loaded.traffic.acknowledged.size).toBeGreaterThan(before)

  await changePassword('reader')
  expect(await history()).toBe(500)
  for (const role of ['rest', 'stream'] as const) await restartRole(loaded, role)
  await expect.poll(history, patient).toBe(200)
  await flows(loaded, 20)
  await expectNothingMissed(loaded, 'passwords of QuestDB rotated')
})

test('after the node of QuestDB is lost with its volume, the newest backup is restored as documented', async () => {
  const { traffic, kubectl, installed, outside } = loaded
  await kubectl('apply', '-f', firstFeed)
  await installed.cluster.apply(apiKey('readers', { ...wideLimits, feeds: ['DEMO:SIM'] }))
  await Promise.all([loaded.ready('feed', 'demo'), loaded.ready('apikey', 'readers')])
  const key = await deliveredKey(installed.cluster, namespace, 'readers')
  await expect.poll(async () => (await minutesOf(key)).length, patient).toBe(minutesShown)
  const before = traffic.acknowledged
  await kubectl('create', 'job', '--from=cronjob/fxd-questdb-backup', 'backup-now')
  await kubectl('wait', 'job/backup-now', '--for=condition=Complete', '--timeout=300s')
  expect(await kubectl('logs', 'job/backup-now')).toMatch(/questdb-\S+\.tar was written: \d+ bytes/)
  await flows(loaded, 20)
  await traffic.caughtUp()

  const answers: { readonly status: number; readonly retryAfter: unknown }[] = []
  const asking = new RepeatedCalls(1, 250, async () => {
    const { status, headers } = await outside.get(historyPath, key)
    answers.push({ status, retryAfter: headers['retry-after'] })
  })
  onTestFinished(() => asking.stop())
  const lost = await nodeOf('fxd-questdb-0')
  const collector = new CollectorPod(loaded, 'demo')
  const lostMs = performance.now()
  await lost.powerCut()
  await destroyVolume('data-fxd-questdb-0')
  await expect
    .poll(async () => (await outside.get('/v1/status', key)).body, patient)
    .toMatchObject({ status: 'degraded' })
  await restore(lost.name)
  await collector.ready()
  const spooled = { bars: await collector.value('spool_bars'), bytes: await collector.value('spool_bytes') }
  await installed.upgrade({}, '--force-conflicts')
  await loaded.shards(2)
  await expect.poll(async () => (await minutesOf(key)).length, patient).toBe(minutesShown)
  const servedMs = performance.now()
  // New batches enter the spool all the time. So this waits until the oldest is newer than the restore.
  const oldestMs = async (): Promise<number> =>
    performance.now() - 1_000 * (await collector.value('spool_age_seconds'))
  await expect.poll(oldestMs, patient).toBeGreaterThan(servedMs)
  await flows(loaded, 20)
  await traffic.caughtUp()
  await asking.stop()

  expect(traffic.checkUnplanned()).toEqual([])
  const isThere = (): Promise<readonly string[]> => traffic.checkHistory(before)
  await expect.poll(isThere, { timeout: recoveryMs, interval: 1_000 }).toEqual([])
  // The Simulator can be read again: nothing of it is lost.
  const shown = await minutesOf(key)
  expect(shown).toHaveLength(minutesShown)
  expect(shown.filter((time, i) => i > 0 && time !== (shown[i - 1] ?? 0) + 60)).toEqual([])
  const refused = answers.filter(({ status }) => status === 500)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.filter(({ retryAfter }) => retryAfter === undefined)).toEqual([])
  const pushLost = (await traffic.checkHistory()).length
  console.log(
    `node and volume of QuestDB lost: ${((servedMs - lostMs) / 60_000).toFixed(1)} minutes without history, ` +
      `${refused.length} answers of 500 with Retry-After; 0 of ${shown.length} minutes of the Simulator missing, ` +
      `at least ${pushLost} of the Push feed's bars that were acknowledged after the backup; ` +
      `${spooled.bars} bars in a spool of ${spooled.bytes} bytes`,
  )
  console.log(`restored: ${traffic.summary()}`)
  await lost.start()
  await installed.cluster.kubectl('taint', 'nodes', lost.name, `${outOfService}:NoExecute-`)
})

const historyPath = `/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=${minutesShown}`

/** The newest minutes of a symbol that trades at all times; none while history is unavailable. */
async function minutesOf(key: string): Promise<readonly number[]> {
  const { status, body } = await loaded.outside.get(historyPath, key)
  return status === 200 ? ((body as { t?: readonly number[] }).t ?? []) : []
}

async function nodeOf(pod: string): Promise<Worker> {
  const name = await loaded.kubectl('get', 'pod', pod, '-o=jsonpath={.spec.nodeName}')
  const node = loaded.installed.cluster.nodes.find((each) => each.name === name)
  if (node === undefined) throw new Error(`${pod} runs on "${name}", which is no node of this cluster`)
  return node
}

/** Removes what a claim's volume holds, and makes it unusable for pods. */
async function destroyVolume(claim: string): Promise<void> {
  const volume = await loaded.kubectl('get', 'pvc', claim, '-o=jsonpath={.spec.volumeName}')
  const folder = await loaded.kubectl('get', 'pv', volume, '-o=jsonpath={.spec.hostPath.path}')
  rmSync(folder, { recursive: true })
  mkdirSync(folder, { mode: 0 })
}

/** Runs the commands of docs/kubernetes.md for a lost node and volume, in order, until the stores are back. */
async function restore(lostNode: string): Promise<void> {
  const { kubectl } = loaded
  const claim = 'pvc/data-fxd-questdb-0'
  const { metadata, spec } = JSON.parse(await kubectl('get', claim, '-o=json')) as Claim
  await kubectl('scale', 'statefulset/fxd-questdb', '--replicas=0')
  await kubectl('taint', 'nodes', lostNode, `${outOfService}=nodeshutdown:NoExecute`)
  await kubectl('scale', 'deploy/fxd-rest', 'deploy/fxd-ingest', 'deploy/fxd-operator', '--replicas=0')
  await kubectl(
    'wait',
    'pods',
    '-l',
    'app.kubernetes.io/component=operator',
    '--for=delete',
    '--timeout=120s',
  )
  await kubectl('scale', 'deploy/fxd-stream', 'statefulset/fxd-questdb', '--replicas=0')
  await kubectl('wait', 'pod/fxd-questdb-0', '--for=delete', '--timeout=180s')
  await kubectl('delete', 'pods', '-l', 'app.kubernetes.io/component=backup')
  await kubectl('delete', claim)
  const { accessModes, resources } = spec
  await loaded.installed.cluster.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: metadata.name, namespace: metadata.namespace, labels: metadata.labels },
    spec: { accessModes, resources },
  })
  await documentedPod()
  await kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/restore', '--timeout=10m')
  await kubectl('delete', 'pod/restore')
  await kubectl('scale', 'statefulset/fxd-questdb', '--replicas=1')
  await podReady('fxd-questdb-0')
}

interface Claim {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: object }
  readonly spec: { readonly accessModes: readonly string[]; readonly resources: object }
}

/** Applies the pod that unpacks the newest copy, with the image of these tests. */
async function documentedPod(): Promise<void> {
  const pod = /<<'POD'\n([\s\S]+?)\n *POD\n/.exec(readFileSync(operations, 'utf8'))?.[1]
  if (pod === undefined) throw new Error('docs/kubernetes.md has no pod that restores')
  const input = pod.replaceAll(/image: \S+/g, `image: ${image.repository}:${image.tag}`)
  const { kubeconfig } = loaded.installed.cluster
  await run([kubernetesPrograms().kubectl, `--kubeconfig=${kubeconfig}`, '-n', 'fxd', 'apply', '-f', '-'], {
    input,
  })
}
