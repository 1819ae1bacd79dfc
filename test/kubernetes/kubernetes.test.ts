import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { rights } from '../../operator/rights.ts'
import type { UserAnswer } from '../faults/support/cluster-user.ts'
import { domain } from './cluster/ingress.ts'
import { deliveredKey } from './installed/delivered-key.ts'
import { type Installed, namespace, startInstalled } from './installed/installed.ts'
import { killLeader } from './installed/kill-leader.ts'
import { addressKey, firstFeed, replacingAllPods, workKey } from './installed/objects.ts'
import { Outside } from './installed/outside.ts'
import { kubectlOf, putUnderLoad, type UnderLoad } from './installed/under-load.ts'
import { expectNoViolation } from './soak/expect-nothing-missed.ts'

const startTimeoutMs = 900_000
const patient = { timeout: 120_000, interval: 200 }
/** Default limit of Envoy for a whole answer. */
const envoyDefaultMs = 15_000
/** The simulator's 90 days of minutes. */
const longAnswerBars = 129_000

let installed: Installed
let outside: Outside
beforeAll(async () => {
  installed = await startInstalled()
  outside = new Outside(installed)
}, startTimeoutMs)
afterAll(() => installed?.stop())

const kubectl = (...args: readonly string[]): Promise<string> => kubectlOf(installed)(...args)
const ready = (kind: string, name: string): Promise<string> =>
  kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=90s')
const statusOf = async (path: string, key: string, host = domain): Promise<number> =>
  (await outside.get(path, key, host)).status

test('the service answers as soon as helm install --wait returns', async () => {
  expect(await statusOf('/v1/status', 'fxd_none')).toBe(401)
  expect(
    await kubectl('get', 'pods', '-o=jsonpath={.items[*].status.containerStatuses[*].restartCount}'),
  ).toMatch(/^[0 ]+$/)
})

test.for(['rest', 'stream', 'ingest', 'operator'])(
  'the two pods of %s run on different nodes, although nodes have no zones',
  async (component) => {
    const path = '-o=jsonpath={.items[*].spec.nodeName}'
    const pods = ['pods', '-l', `app.kubernetes.io/component=${component}`] as const
    expect((await kubectl('get', ...pods, path)).split(' ').toSorted()).toEqual(['node1', 'node2'])
  },
)

test('after a Feed and an ApiKey are applied, bars are served through Ingress and HTTPRoute', async () => {
  await kubectl('apply', '-f', firstFeed)
  await Promise.all([ready('feed', 'demo'), ready('apikey', 'first')])
  const key = await deliveredKey(installed.cluster, namespace, 'first')
  const path = '/v1/history?symbol=DEMO:SIM:EURUSD&resolution=1&countback=3'
  for (const host of [domain, `api.${domain}`])
    await expect
      .poll(async () => (await outside.get(path, key, host)).body, patient)
      .toMatchObject({ s: 'ok', t: expect.any(Array) as unknown })
})

test('a long answer to a client that reads late arrives whole through Ingress and HTTPRoute', async () => {
  const key = await deliveredKey(installed.cluster, namespace, 'first')
  const path = '/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&from=0&to=4000000000'
  const barsOf = (body: unknown): number => (body as { t?: readonly number[] }).t?.length ?? 0
  // More bytes than all buffers on the way accept while the client does not read.
  const whole = { timeout: 120_000, interval: 2_000 }
  await expect
    .poll(async () => barsOf((await outside.get(path, key)).body), whole)
    .toBeGreaterThanOrEqual(longAnswerBars)
  const texts = [domain, `api.${domain}`].map((host) =>
    outside.getSlowly(path, key, host, envoyDefaultMs + 2_000),
  )
  for (const text of await Promise.all(texts))
    expect(barsOf(JSON.parse(text))).toBeGreaterThanOrEqual(longAnswerBars)
})

test('the operator has exactly its declared rights, and pods of other roles have none', async () => {
  const listed = async (account: string): Promise<readonly string[]> => {
    const user = `--as=system:serviceaccount:${namespace}:${account}`
    const lines = (await kubectl('auth', 'can-i', '--list', user)).split('\n')
    // Rights of every user: to query its own rights and to read the server's version.
    return lines
      .filter((line) => /^\S+ +\[\] +\[\] +\[/.test(line) && !/^self|^\[/.test(line))
      .map((line) => line.replaceAll(/ +/g, ' ').replace(' [] [] ', ' ').trim())
  }
  const stated = rights.map(({ group, resource, verbs }) => {
    const [kind = '', part] = resource.split('/')
    const name = group === '' ? kind : `${kind}.${group}`
    return `${part === undefined ? name : `${name}/${part}`} [${verbs.join(' ')}]`
  })
  expect((await listed('fxd-operator')).toSorted()).toEqual(stated.toSorted())
  expect(await listed('default')).toEqual([])
})

test('the address of a client is set by the ingress, not by headers of the client', async () => {
  const { machineAddress } = installed.cluster.network
  const forged = '203.0.113.9'
  await installed.cluster.apply(addressKey('here', machineAddress), addressKey('elsewhere', forged))
  await Promise.all(['here', 'elsewhere'].map((name) => ready('apikey', name)))
  const answerAs = async (name: string): Promise<UserAnswer> => {
    const key = await deliveredKey(installed.cluster, namespace, name)
    return outside.get('/v1/status', key, domain, { 'x-forwarded-for': forged })
  }
  await expect.poll(async () => (await answerAs('here')).status, patient).toBe(200)
  // The pods of rest learn of a key separately.
  await expect
    .poll(async () => (await answerAs('elsewhere')).body, patient)
    .toMatchObject({ error: { code: 'IP_NOT_ALLOWED' } })
})

describe('an ApiKey on an open socket', () => {
  const open = async (
    key: string,
  ): Promise<{ readonly closed: Promise<number>; readonly socket: WebSocket }> => {
    const socket = new WebSocket(`${outside.ws}/v1/stream?api_key=${key}`, outside.connection)
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    await once(socket, 'open')
    return { closed, socket }
  }

  test('stays open through a rotation with overlap and is closed at the revocation', async () => {
    await installed.cluster.apply(workKey({ issue: 1 }))
    await ready('apikey', 'work')
    const before = await deliveredKey(installed.cluster, namespace, 'work')
    await expect.poll(() => statusOf('/v1/status', before), patient).toBe(200)
    await outside.untilUpgraded(before)
    const { closed, socket } = await open(before)

    await installed.cluster.apply(workKey({ issue: 2 }))
    await expect.poll(() => deliveredKey(installed.cluster, namespace, 'work'), patient).not.toBe(before)
    const after = await deliveredKey(installed.cluster, namespace, 'work')
    await expect.poll(() => statusOf('/v1/status', after), patient).toBe(200)
    expect(await statusOf('/v1/status', before)).toBe(200)
    expect(socket.readyState).toBe(WebSocket.OPEN)

    await installed.cluster.apply(workKey({ issue: 2, revoked: true }))
    expect(await closed).toBe(4500)
    await expect.poll(() => statusOf('/v1/status', after), patient).toBe(401)
  })
})

test('the access log of the ingress has the path of a socket without the query, which had its key', async () => {
  const log = (): string => readFileSync(installed.cluster.ingress.accessLog, 'utf8')
  // Envoy writes the line of a socket some seconds after its end.
  await expect.poll(log, patient).toContain('/v1/stream')
  expect(log()).not.toMatch(/api_key|fxd_[0-9a-f]{32}/)
})

describe('under load', () => {
  let loaded: UnderLoad
  beforeAll(async () => {
    loaded = await putUnderLoad(installed)
  }, startTimeoutMs)
  afterAll(() => loaded?.stop())

  test('kubectl scale from 2 shards to 3 and back loses no bar', async () => {
    await kubectl('scale', 'streampool/fxd-stream', '--replicas=3')
    await loaded.shards(3)
    // Adds clients, so that the new shard gets sockets, too.
    await loaded.traffic.join(12)
    await kubectl('scale', 'streampool/fxd-stream', '--replicas=2')
    await loaded.shards(2)
    await expectNoViolation(loaded, 'scale')
  })

  test('a rolling upgrade with two kills of the operator loses no bar', async () => {
    const upgrade = installed.upgrade(replacingAllPods('1'))
    for (let kills = 0; kills < 2; kills += 1) await killLeader(loaded)
    await upgrade
    await loaded.shards(2)
    await expectNoViolation(loaded, 'upgrade and two kills of the operator')
  })
})

test('helm uninstall keeps only the kinds and the data', async () => {
  await kubectl('delete', 'service', 'ingest-outside', '--ignore-not-found')
  await installed.cluster.helm('uninstall', 'fxd', '-n', namespace, '--wait')
  await installed.cluster.helm('uninstall', 'fxd-crds', '--wait')
  expect(await kubectl('get', 'feeds,apikeys', '-o=name')).toContain('feed.marketdata.fxd.dev/demo')
  const reasons = '-o=jsonpath={.items[*].status.conditions[*].reason}'
  expect(new Set((await kubectl('get', 'feeds,apikeys', reasons)).split(' '))).toEqual(
    new Set(['OperatorGone']),
  )
  const kinds =
    'deployments,statefulsets,pods,services,jobs,cronjobs,ingresses,httproutes,networkpolicies,poddisruptionbudgets,' +
    'serviceaccounts,roles,rolebindings,configmaps,streampools,leases'
  const left = async (of: string): Promise<readonly string[]> =>
    (await kubectl('get', of, '-o=name')).split('\n').filter(Boolean).toSorted()
  await expect
    .poll(() => left(kinds), patient)
    .toEqual(['configmap/kube-root-ca.crt', 'service/questdb', 'service/redis', 'serviceaccount/default'])
  expect(await left('persistentvolumeclaims')).toEqual(['persistentvolumeclaim/spool-demo-collector-0'])
  const secrets = await left('secrets')
  expect(secrets).toContain('secret/first')
  expect(secrets.filter((name) => name.startsWith('secret/fxd-'))).toEqual(['secret/fxd-tls'])
})
