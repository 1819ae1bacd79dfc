import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from '../cluster/kubectl.ts'
import { kubernetesPrograms } from '../cluster/programs.ts'
import { buildStoresImage } from '../image/build-stores-image.ts'
import { secretValue, startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, flows, recoveryMs } from './expect-nothing-missed.ts'

/**
 * The QuestDB, the Redis and the backup that the chart starts for a first installation. One image of the tests replaces
 * the three public ones. The outside stores of other suites also run, but nothing uses them.
 */
const startTimeoutMs = 900_000
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
    hoursBack: 24,
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
  for (const workload of ['statefulset/fxd-redis', 'deploy/fxd-rest']) {
    await loaded.kubectl('rollout', 'restart', workload)
    await loaded.kubectl('rollout', 'status', workload, '--timeout=300s')
  }
  await write({ data: { 'previous-password': null } })
  await loaded.kubectl('rollout', 'restart', 'statefulset/fxd-redis')
  await loaded.kubectl('rollout', 'status', 'statefulset/fxd-redis', '--timeout=300s')
  await flows(loaded, 20)
  await expectNothingMissed(loaded, 'password of Redis rotated')
})

test('a backup has all bars acknowledged before it, and is restored after the volume is lost', async () => {
  const before = loaded.traffic.acknowledged
  await loaded.kubectl('create', 'job', '--from=cronjob/fxd-questdb-backup', 'backup-now')
  await loaded.kubectl('wait', 'job/backup-now', '--for=condition=Complete', '--timeout=300s')
  expect(await loaded.kubectl('logs', 'job/backup-now')).toMatch(/questdb-\S+\.tar was written: \d+ bytes/)
  await flows(loaded, 20)
  await loaded.traffic.caughtUp()

  await restore()
  await loaded.shards(2)
  await flows(loaded, 20)
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.checkUnplanned()).toEqual([])
  const isThere = (): Promise<readonly string[]> => loaded.traffic.checkHistory(before)
  await expect.poll(isThere, { timeout: recoveryMs, interval: 1_000 }).toEqual([])
  const lost = (await loaded.traffic.checkHistory()).length
  console.log(
    `restored: ${before.size} bars were acknowledged before the backup and are there, at least ${lost} later ones are not`,
  )
  console.log(`restored: ${loaded.traffic.summary()}`)
})

/** Runs the commands of docs/kubernetes.md for a lost volume, in order. */
async function restore(): Promise<void> {
  const { kubectl } = loaded
  const claim = 'pvc/data-fxd-questdb-0'
  const { metadata, spec } = JSON.parse(await kubectl('get', claim, '-o=json')) as Claim
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
  await loaded.installed.upgrade({}, '--force-conflicts')
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
