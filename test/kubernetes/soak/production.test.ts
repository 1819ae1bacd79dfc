import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { within } from '../../faults/support/within.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { certificateKind, monitoringKinds } from '../cluster/programs.ts'
import { issueCertificates } from '../installed/certificates.ts'
import { crash } from '../installed/crash.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { charts, namespace } from '../installed/installed.ts'
import { firstFeed } from '../installed/objects.ts'
import { type ProductionStores, startProductionStores } from '../installed/production-stores.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { expectNothingMissed, flows, recoveryMs } from './expect-nothing-missed.ts'

/**
 * The installation of values-production.yaml, with the stores, Secrets and kinds that it requires. The test issues
 * certificates in place of cert-manager. Not tested: policies, which the network of these tests does not enforce, and
 * CPU utilization, which it does not measure.
 */
const startTimeoutMs = 900_000
const roles = ['rest', 'stream', 'ingest', 'operator', 'collector']
/** The nodes of these tests are too small for the CPU that production requests. */
const small = { resources: { requests: { cpu: '100m' } } }

let stores: ProductionStores
let loaded: UnderLoad
beforeAll(async () => {
  loaded = await startUnderLoad({
    nodes: 3,
    hoursBack: 23,
    valuesFile: join(charts, 'fxd/values-production.yaml'),
    stores: async (cluster, into) => (stores = await startProductionStores(cluster, into)),
    prepare,
    ingestTls: ({ credentials }) => ({
      ca: readFileSync(credentials.ca),
      serverName: `fxd-ingest.${namespace}.svc`,
    }),
  })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

/** Makes what values-production.yaml requires of a cluster. */
async function prepare(cluster: KubernetesCluster): Promise<object> {
  await cluster.kubectl('apply', '--server-side', ...monitoringKinds().flatMap((file) => ['-f', file]))
  const token = (): string => crypto.randomUUID() + crypto.randomUUID()
  await cluster.apply(
    certificateKind(),
    {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'fxd-serving' },
      value: 1_000,
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'fxd-tokens', namespace },
      stringData: { admin: token(), shard: token(), signing: token() },
    },
  )
  // Helm waits for pods that wait for these certificates.
  void issueCertificates(cluster).catch(console.error)
  return { imageRegistry: '', rest: small, stream: small, ingest: small }
}

test('a feed and its key give bars over REST, and the Certificates cover all connections between pods', async () => {
  await loaded.kubectl('apply', '-f', firstFeed)
  await Promise.all([loaded.ready('feed', 'demo'), loaded.ready('apikey', 'first'), loaded.shards(3)])
  const key = await deliveredKey(loaded.installed.cluster, namespace, 'first')
  const path = '/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=5'
  const ask = async () => (await loaded.outside.get(path, key)).body
  await expect.poll(ask, { timeout: recoveryMs, interval: 1_000 }).toMatchObject({ meta: { bar_count: 5 } })
  await expect.poll(podsOfRoles, { timeout: recoveryMs, interval: 1_000 }).toEqual([2, 3, 2, 2, 1])
  // All tokens and passwords are the given ones.
  const own = ['get', 'secrets', '-l', 'marketdata.fxd.dev/generated=true', '-o=name']
  expect(await loaded.kubectl(...own)).toBe('')
  await flows(loaded, 20)
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.checkPlanned()).toEqual([])
})

test('renewed certificates are in use without an interruption', async () => {
  const { fingerprint256 } = await issueCertificates(loaded.installed.cluster)
  await expect.poll(shownByIngest, { timeout: recoveryMs, interval: 1_000 }).toBe(fingerprint256)
  // The operator and a new shard use the renewed certificate of shards.
  await loaded.kubectl('scale', 'streampool/fxd-stream', '--replicas=4')
  await loaded.shards(4)
  await flows(loaded, 20)
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.checkPlanned()).toEqual([])
  expect(loaded.traffic.brokenSessions).toBe(0)
})

test('when the primary of Redis and a Sentinel are lost, no bar is missed', async () => {
  const { group } = stores
  await group.replicated()
  const lost = await group.primary()
  const frozen = [lost, ...group.sentinels.slice(0, 1)]
  for (const each of frozen) await each.freeze()
  await within(recoveryMs, 'a replica to take over', async () => (await group.primary()) !== lost)
  await flows(loaded, 30)
  await expectNothingMissed(loaded, 'primary of Redis and a Sentinel lost')
  for (const each of frozen) each.thaw()
  await group.replicated()
  await flows(loaded, 20)
  await expectNothingMissed(loaded, 'both are back')
})

test('when a pod of each role crashes, no bar is missed', async () => {
  for (const role of roles) {
    const [pod = ''] = await podsOf(role)
    await crash(loaded, pod)
    await flows(loaded, 20)
  }
  await expectNothingMissed(loaded, 'a pod of each role crashed')
})

const podsOf = async (role: string): Promise<readonly string[]> => {
  const pods = ['get', 'pods', '-l', `app.kubernetes.io/component=${role}`, '-o=name']
  return (await loaded.kubectl(...pods)).trim().split('\n')
}
const podsOfRoles = (): Promise<readonly number[]> =>
  Promise.all(roles.map(async (role) => (await podsOf(role)).length))

/** Fingerprint of the certificate that ingest shows to a collector outside. */
async function shownByIngest(): Promise<string> {
  const { address } = loaded.installed.cluster.network
  const socket = connect({ host: address, port: 8090, ALPNProtocols: ['h2'], rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}
