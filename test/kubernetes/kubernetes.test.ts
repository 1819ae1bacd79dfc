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
import { addressKey, apiKey, firstFeed, replacingAllPods, wideLimits, workKey } from './installed/objects.ts'
import { Outside } from './installed/outside.ts'
import { TerminalFeed } from './installed/terminal-feed.ts'
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
let terminal: TerminalFeed | undefined
/** When the terminal posted again after the kill of its collector, in seconds. */
let restartedAt = 0
beforeAll(async () => {
  installed = await startInstalled()
  outside = new Outside(installed)
}, startTimeoutMs)
afterAll(async () => {
  await terminal?.stop()
  await installed?.stop()
})

const kubectl = (...args: readonly string[]): Promise<string> => kubectlOf(installed)(...args)
const ready = (kind: string, name: string): Promise<string> =>
  kubectl('wait', `${kind}/${name}`, '--for=condition=Ready', '--timeout=90s')
function running(): TerminalFeed {
  if (!terminal) throw new Error('the Feed of the terminal was not applied')
  return terminal
}
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

/** The terminal of the tests below goes on during the others. */
test('a Feed with source Terminal and NOTES show the address of its terminal and the Secret of the token', async () => {
  terminal = await TerminalFeed.apply(installed)
  const address = `https://${domain}/terminal/0`
  const columns = await kubectl('get', 'feed/terminal', '-o=wide')
  expect(columns).toMatch(/ Terminal .* True +Collecting /)
  expect(columns).toContain(` ${address} `)
  const posts = `A terminal posts to ${address} with the token in the Secret terminal-terminal.`
  expect(await kubectl('describe', 'feed/terminal')).toContain(posts)
  const notes = await installed.cluster.helm('get', 'notes', 'fxd', '-n', namespace)
  expect(notes).toContain(
    `${address} with the token of: kubectl get secret -n ${namespace} terminal-terminal`,
  )
})

test('bars of a terminal that posts through the Ingress come to history, and its Feed is live', async () => {
  const [feed, readers] = [running(), apiKey('readers', { ...wideLimits, feeds: [TerminalFeed.key] })]
  await installed.cluster.apply(readers)
  await feed.connect(await feed.token())
  const key = await deliveredKey(installed.cluster, namespace, 'readers')
  const path = `/v1/history?symbol=${TerminalFeed.key}:USDJPY&resolution=1&countback=3`
  await expect.poll(async () => (await outside.get(path, key)).body, patient).toMatchObject({ s: 'ok' })
  feed.subscribe(key)
  await expect
    .poll(() => kubectl('get', 'feed/terminal', '-o=jsonpath={.status.state}'), patient)
    .toBe('live')
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

test('the token of a terminal is valid after its rotation until the next one, as the new token is', async () => {
  const feed = running()
  const first = await feed.token()
  await feed.setTokenIssue(2)
  await expect.poll(() => feed.token(), patient).not.toBe(first)
  const second = await feed.token()
  await expect.poll(() => feed.accepts(second), patient).toBe(true)
  expect(await feed.accepts(first)).toBe(true)
  const { sessions } = feed
  await feed.connect(second)
  await expect.poll(() => feed.sessions, patient).toBeGreaterThan(sessions)

  await feed.setTokenIssue(3)
  await expect.poll(() => feed.accepts(first), patient).toBe(false)
  expect(await feed.accepts(second)).toBe(true)
  expect(feed.journal.filter((line) => line.includes('refuses'))).toEqual([])
})

test('a terminal begins a new session once its killed collector runs again', async () => {
  const feed = running()
  const { sessions } = feed
  await kubectl('delete', 'pod/terminal-collector-0', '--grace-period=0', '--force')
  await expect.poll(() => feed.sessions, patient).toBeGreaterThan(sessions)
  restartedAt = Date.now() / 1_000
})

test('the access log of the ingress has the path of a socket without the query, which had its key', async () => {
  const log = (): string => readFileSync(installed.cluster.ingress.accessLog, 'utf8')
  // Envoy writes the line of a socket some seconds after its end.
  await expect.poll(log, patient).toContain('/v1/stream')
  expect(log()).not.toMatch(/api_key|fx[dt]_[0-9a-f]{32}|fxc_[\w-]{20}/)
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

test('each bar of a terminal is in history and was pushed once, although its collector was killed', async () => {
  const feed = running()
  // The bar before it and this one closed while the terminal posted.
  await expect.poll(() => feed.newestPushed, patient).toBeGreaterThan(restartedAt)
  await expect.poll(() => feed.differences(), patient).toEqual([])
  console.log(`terminal: ${feed.pushed} bars pushed, ${feed.sessions} sessions, 0 bars missed`)
  expect(await feed.stop()).toBe('')
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
    .toEqual([
      'configmap/kube-root-ca.crt',
      'service/questdb',
      'service/redis',
      'service/terminal-collector-0',
      'service/terminal-collector-1',
      'serviceaccount/default',
    ])
  expect(await left('persistentvolumeclaims')).toEqual(
    ['demo', 'terminal'].map((feed) => `persistentvolumeclaim/spool-${feed}-collector-0`),
  )
  const secrets = await left('secrets')
  expect(secrets).toContain('secret/first')
  expect(secrets.filter((name) => name.startsWith('secret/fxd-'))).toEqual(['secret/fxd-tls'])
})
