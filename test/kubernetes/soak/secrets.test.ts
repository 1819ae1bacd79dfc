import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { registryClient } from '../../../services/wire/unary-client.ts'
import { feed } from '../../faults/support/market.ts'
import { within } from '../../faults/support/within.ts'
import { domain, tlsSecret } from '../cluster/ingress.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { namespace } from '../installed/installed.ts'
import { addressKey, apiKey, firstFeed, wideLimits } from '../installed/objects.ts'
import { podTls, trustOf } from '../installed/pod-tls.ts'
import { restartRole } from '../installed/restart.ts'
import { secretValue, startUnderLoad, type UnderLoad } from '../installed/under-load.ts'
import { usedSecrets } from '../installed/used-secrets.ts'

/**
 * Rotation of each Secret that a pod uses, as in docs/kubernetes.md: no session, socket or request fails. Not tested:
 * - passwords of the chart's own Redis and QuestDB: soak/own-stores.test.ts;
 * - the password of Sentinels and the authority of Redis (redis.sentinel, redis.tls), which these tests lack. Pods read
 *   both at their start, so a restart of the pods completes the rotation, as for the passwords below;
 * - imagePullSecrets: no process of fxd reads them, and the kubelet reads them at each pull;
 * - tokens of service accounts: no Secrets. Kubernetes renews their files, and the operator reads them at each call.
 */
const startTimeoutMs = 900_000
const patienceMs = 180_000
/** Delay until a new Secret is in use: the kubelet reads Secrets every 5 s, and fxd its files every 10 s. */
const inUseMs = 30_000
/** Calls in a row that must succeed, so that both ingests have answered. */
const callsInARow = 8

let loaded: UnderLoad
let ingest = ''
let collector: CollectorPod
/** Such as `stores/redis-rest`. */
const rotated = new Set<string>()
beforeAll(async () => {
  loaded = await startUnderLoad({ prepare: podTls, ingestTls: trustOf, hoursBack: 23 })
  ingest = `${loaded.installed.cluster.network.address}:8090`
  // A real collector, whose single session must not end.
  await loaded.kubectl('apply', '-f', firstFeed)
  await loaded.ready('feed', 'demo')
  collector = new CollectorPod(loaded, 'demo')
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const fresh = (): string => randomBytes(32).toString('hex')
const valueOf = (secret: string, field: string): Promise<string> => secretValue(loaded.kubectl, secret, field)

async function write(secret: string, field: string, ...lines: readonly string[]): Promise<void> {
  const stringData = { [field]: lines.join('\n') }
  await loaded.kubectl('patch', 'secret', secret, '--type=merge', '-p', JSON.stringify({ stringData }))
  rotated.add(`${secret}/${field}`)
}

/** Number of accepted administration calls, each over a separate connection. */
async function accepted(token: string): Promise<number> {
  let count = 0
  for (let calls = 0; calls < callsInARow; calls += 1) {
    const client = registryClient(ingest, { token, tls: trustOf(loaded.installed.cluster) })
    await client.call('ListFeeds', {}).then(
      () => (count += 1),
      () => undefined,
    )
    client.close()
  }
  return count
}

/** Expects that `work` ends no session and no socket. */
async function withoutBreaking(work: () => Promise<void>): Promise<void> {
  const [before, sessions] = [loaded.traffic.brokenSessions, await collector.value('reconnects_total')]
  await work()
  expect(loaded.traffic.brokenSessions).toBe(before)
  expect(await collector.value('reconnects_total')).toBe(sessions)
}

async function expectNothingFailed(what: string): Promise<void> {
  await loaded.traffic.caughtUp()
  expect(loaded.traffic.checkPlanned()).toEqual([])
  console.log(`${what}: ${loaded.traffic.summary()}`)
}

test('a rotation of the administration token does not interrupt the operator', async () => {
  const [old, next] = [await valueOf('fxd-admin-token', 'token'), fresh()]
  await withoutBreaking(async () => {
    await write('fxd-admin-token', 'token', old, next)
    await within(patienceMs, 'both tokens to be accepted', async () => (await accepted(next)) === callsInARow)
    await write('fxd-admin-token', 'token', next, old)
    await pause(inUseMs)
    await write('fxd-admin-token', 'token', next)
    await within(patienceMs, 'the old token to be rejected', async () => (await accepted(old)) === 0)
  })
  await loaded.installed.cluster.apply(addressKey('rotated', loaded.installed.cluster.network.machineAddress))
  await loaded.ready('apikey', 'rotated')
  await expectNothingFailed('administration token')
})

test('after a rotation of the shard token shards are drained with the new one', async () => {
  const [old, next] = [await valueOf('fxd-shard-token', 'token'), fresh()]
  for (const lines of [[old, next], [next, old], [next]]) {
    await write('fxd-shard-token', 'token', ...lines)
    await pause(inUseMs)
  }
  for (const count of [3, 2]) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${count}`)
    await loaded.shards(count)
  }
  await expectNothingFailed('token of shards')
})

test('a rotated ApiKey with an overlap is valid with both secrets, for sockets and history', async () => {
  const before = await deliveredKey(loaded.installed.cluster, namespace, 'load')
  const spec = { ...wideLimits, feeds: [feed], issue: 2, overlap: '1h' }
  await loaded.installed.cluster.apply(apiKey('load', spec))
  const current = (): Promise<string> => deliveredKey(loaded.installed.cluster, namespace, 'load')
  await within(patienceMs, 'another secret', async () => (await current()) !== before)
  for (const key of [before, await current()]) {
    await within(
      patienceMs,
      'the secret to be accepted',
      async () => (await loaded.outside.get('/v1/status', key)).status === 200,
    )
    await loaded.outside.untilUpgraded(key)
  }
  for (const secret of ['load/key', 'load-digest/digest.json']) rotated.add(secret)
  await expectNothingFailed('ApiKey')
})

test('a rotation of certificates and authority between pods and of the ingress fails nothing', async () => {
  const { cluster } = loaded.installed
  const next = readFileSync(cluster.credentials.authority('another'))
  const old = readFileSync(cluster.credentials.ca)
  await withoutBreaking(async () => {
    for (const [by, ...authorities] of [
      ['kubernetes', old, next],
      ['another', old, next],
      ['another', next],
    ] as const) {
      await podTls(cluster, by, Buffer.concat(authorities))
      await pause(inUseMs)
    }
  })
  for (const secret of ['ingest-tls', 'stream-tls'])
    for (const field of ['tls.crt', 'tls.key', 'ca.crt']) rotated.add(`${secret}/${field}`)
  await cluster.apply(tlsSecret('fxd-tls', namespace, cluster.credentials.forNames('service-again', domain)))
  // The operator drains shards and collectors start sessions, all with the new authority.
  for (const count of [3, 2]) {
    await loaded.kubectl('scale', 'streampool/fxd-stream', `--replicas=${count}`)
    await loaded.shards(count)
  }
  loaded.traffic.becomes({ tls: { ca: next } })
  await collector.restart()
  await expectNothingFailed('certificates')
})

test('a rotation of Redis passwords, role by role, fails nothing', async () => {
  const { redis } = loaded.installed.stores
  for (const role of ['rest', 'stream', 'ingest'] as const) {
    const [old, next] = [await valueOf('stores', `redis-${role}`), fresh()]
    await redis.command(`ACL SETUSER fxd-${role} >${next}`)
    await write('stores', `redis-${role}`, next)
    await restartRole(loaded, role)
    await redis.command(`ACL SETUSER fxd-${role} <${old}`)
  }
  await expectNothingFailed('passwords of Redis')
})

test('a rotation of signing keys keeps open collector sessions', async () => {
  const [old, next] = [await valueOf('fxd-signing-keys', 'keys'), fresh()]
  const names = ['brokera-zero-token', 'demo-token']
  const before = await Promise.all(names.map((name) => valueOf(name, 'token')))
  await withoutBreaking(async () => {
    await write('fxd-signing-keys', 'keys', old, next)
    await pause(inUseMs)
    await write('fxd-signing-keys', 'keys', next, old)
    await pause(inUseMs)
    // The operator issues new tokens, signed with the new key.
    for (const [i, name] of names.entries()) {
      await loaded.kubectl('delete', 'secret', name)
      await loaded.kubectl('wait', '--for=create', `secret/${name}`, '--timeout=60s')
      expect(await valueOf(name, 'token')).not.toBe(before[i])
      rotated.add(`${name}/token`)
    }
    await pause(inUseMs)
    await write('fxd-signing-keys', 'keys', next)
    await pause(inUseMs)
  })
  await expectNothingFailed('signing keys')
  // Later sessions use the new token.
  loaded.traffic.becomes({ token: await valueOf('brokera-zero-token', 'token') })
  await collector.restart()
  await expectNothingFailed('new sessions with new tokens')
})

/** QuestDB has one password per user, so REST answers 500 during the change. */
test('a change of QuestDB passwords keeps sockets and sessions and misses no bar', async () => {
  const [writer, reader] = [fresh(), fresh()]
  const { questdb } = loaded.installed.stores
  await write('stores', 'questdb', writer)
  await write('stores', 'questdb-reader', reader)
  await questdb.kill()
  await questdb.start({
    QDB_PG_PASSWORD: writer,
    QDB_HTTP_PASSWORD: writer,
    QDB_PG_READONLY_PASSWORD: reader,
  })
  for (const role of ['ingest', 'rest', 'stream'] as const) await restartRole(loaded, role)
  await loaded.traffic.caughtUp()
  const { traffic } = loaded
  expect(traffic.checkUnplanned()).toEqual([])
  expect([...traffic.ends.keys()]).toEqual([1012])
  expect([...traffic.statuses.keys()].filter((status) => ![200, 500].includes(status))).toEqual([])
  console.log(`passwords of QuestDB: ${traffic.summary()}`)
})

test('no Secret that a pod uses was left out', async () => {
  const used = await usedSecrets(loaded.kubectl)
  expect(used.size).toBeGreaterThan(10)
  expect([...used.difference(rotated)]).toEqual([])
})
