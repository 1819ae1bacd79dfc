import { isDeepStrictEqual } from 'node:util'
import { status as grpcStatus } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { silentLog } from '../../services/platform/log/log.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import type { NotReady } from '../kube/not-ready.ts'
import type { ApiKeyObject, Secret } from '../kube/resources.ts'
import { KeyController } from './controller.ts'

const secretOf = (digit: string) => `fxd_${digit.repeat(32)}`
const base64 = (text: string) => Buffer.from(text).toString('base64')

interface Put {
  readonly id: string
  readonly issue: number
  readonly feeds: readonly string[]
  readonly sha256: Buffer
  readonly owner?: string
}

interface Row extends Put {
  readonly oldSecrets?: number
  readonly version: number
}

/** One ApiKey, its Secrets and a registry with the feed BROKERA:ZERO. */
function start(spec: object) {
  const key = {
    metadata: { name: 'one', uid: 'u', generation: 1 },
    spec: { plan: 'basic', feeds: ['BROKERA:ZERO'], ...spec },
  } as unknown as ApiKeyObject
  const keys = Object.assign(new Map<string, Row>(), {
    isLoaded: true,
    refresh: async () => void keys.set('one', cluster.stored.get('one') as Row),
  })
  const cluster = {
    key,
    /** The registry's rows as last read. */
    keys,
    /** The object at the API server; `undefined`: the one of the cache. */
    live: undefined as ApiKeyObject | undefined,
    secrets: new Map<string, Secret>(),
    feeds: Object.assign(new Map([['BROKERA:ZERO', { hidden: false }]]), { isLoaded: true }),
    /** The registry's current rows. The operator's list may be older. */
    stored: new Map<string, Row>(),
    puts: [] as Put[],
    /** `basedOn` of each call, including rejected calls and repeats. */
    basedOn: [] as (number | undefined)[],
    events: [] as string[],
    reasons: [] as string[],
    messages: [] as string[],
    /** Runs before a delete, as a concurrent writer. */
    beforeDelete: () => undefined as unknown,
  }
  let version = 0
  const clock = createVirtualClock()
  const store = async (_: unknown, secret: Secret) => {
    const stored = { ...secret, metadata: { ...secret.metadata, resourceVersion: String(++version) } }
    cluster.secrets.set(secret.metadata.name, stored)
    return stored
  }
  const deps = {
    api: {
      get: async ({ plural }: { plural: string }, name: string) =>
        plural === 'apikeys' ? (cluster.live ?? cluster.key) : cluster.secrets.get(name),
      create: store,
      replace: store,
      applyStatus: async (_: unknown, { status }: { status: { conditions: NotReady[] } }) => {
        cluster.reasons.push(status.conditions[0]?.reason ?? '')
        cluster.messages.push(status.conditions[0]?.message ?? '')
      },
      delete: async (_: unknown, name: string, only: { resourceVersion?: string }) => {
        cluster.beforeDelete()
        const { resourceVersion } = cluster.secrets.get(name)?.metadata ?? {}
        if ((only.resourceVersion ?? resourceVersion) === resourceVersion) cluster.secrets.delete(name)
      },
    },
    caches: {
      apikeys: { get: () => cluster.key, all: () => [cluster.key] },
      secrets: { get: (name: string) => (name === 'own' ? undefined : cluster.secrets.get(name)) },
    },
    registry: {
      feeds: cluster.feeds,
      keys,
      putKey: async ({ basedOn, ...put }: Put & { basedOn?: number }) => {
        cluster.basedOn.push(basedOn)
        const { version: now = 0, ...existing }: Partial<Row> = cluster.stored.get(put.id) ?? {}
        const isRepeat = isDeepStrictEqual({ ...existing, ...put }, existing)
        if (!isRepeat && basedOn !== undefined && basedOn < now)
          throw Object.assign(new Error('moved'), { code: grpcStatus.ABORTED, details: 'moved' })
        if (existing.issue === put.issue && !isDeepStrictEqual(existing.sha256, put.sha256))
          throw Object.assign(new Error('taken'), { code: grpcStatus.ABORTED, details: 'another secret' })
        const row = { ...existing, ...put, state: 'active', version: isRepeat ? now : ++version }
        if (!isRepeat) cluster.puts.push(put)
        cluster.stored.set(put.id, row)
        keys.set(put.id, row)
      },
    },
    events: { record: (_: string, __: unknown, { reason }: NotReady) => void cluster.events.push(reason) },
    clock,
    log: silentLog,
    held: () => 0,
  }
  const controller = new KeyController(deps as never)
  const own = (digit: string) =>
    store(undefined, { metadata: { name: 'own' }, data: { key: base64(secretOf(digit)) } })
  /** Reconciles until nothing is left to do. */
  const settle = async () => {
    for (let i = 0; i < 4; i++) await controller.reconcile('one')
  }
  return { cluster, clock, store, own, settle }
}

test('a change of a user Secret after its ApiKey replaces the key', async () => {
  const { cluster, own, settle } = start({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
  await own('a')
  await settle()
  const { metadata, spec } = cluster.key
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, issue: 2 } }
  await settle()
  const before = cluster.puts.at(-1)?.issue ?? 0
  await own('b')
  await settle()
  expect(cluster.puts.at(-1)?.issue).toBe(before + 1)
  expect(cluster.puts.at(-1)?.sha256).not.toEqual(cluster.puts[0]?.sha256)
  expect(cluster.events).toContain('SecretChanged')
  const { length } = cluster.puts
  await settle()
  expect(cluster.puts).toHaveLength(length)
})

test('a key with a removed feed works with its other feeds, and with that feed once it exists again', async () => {
  const { cluster, settle } = start({ feeds: ['BROKERA:ZERO', 'BROKERA:GONE'] })
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO'])
  expect(cluster.reasons.at(-1)).toBe('FeedsMissing')
  cluster.feeds.set('BROKERA:GONE', { hidden: false })
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO', 'BROKERA:GONE'])
  expect(cluster.reasons.at(-1)).toBe('Active')
})

test.for([
  ['into the Secret of the digest', { secretName: 'one-digest' }],
  ['that ends at once', { deleteAfter: '0s' }],
] as const)('a delivery %s is rejected, and nothing is written', async ([, delivery]) => {
  const { cluster, settle } = start({ delivery })
  await settle()
  expect(cluster.reasons.at(-1)).toBe('Invalid')
  expect(cluster.secrets.size).toBe(0)
})

test('a digest with another secret than the registry has for its issue is put again with the next issue', async () => {
  const { cluster, settle } = start({})
  await settle()
  const [first] = cluster.puts as [Put]
  // As after a restore of the Secrets, but not of the registry.
  cluster.stored.set('one', { ...first, sha256: Buffer.alloc(32), version: 1_000 })
  const { metadata, spec } = cluster.key
  cluster.key = {
    metadata: { ...metadata, generation: 2 },
    spec: { ...spec, feeds: ['BROKERA:ZERO', 'A:B'] },
  }
  cluster.feeds.set('A:B', { hidden: false })
  await settle()
  expect(cluster.puts.map(({ issue }) => issue)).toEqual([first.issue, first.issue + 1])
  expect(cluster.puts.at(-1)?.sha256).toEqual(first.sha256)
})

test('a key that another replica changed is put again from its object, without a new secret', async () => {
  const { cluster, settle } = start({})
  await settle()
  const [first] = cluster.puts
  // A late call of the previous leader with an older object. This replica has not read the registry since.
  cluster.stored.set('one', { ...(first as Put), feeds: ['BROKERA:OLD'], version: 1_000 })
  cluster.feeds.set('BROKERA:NEW', { hidden: false })
  const { metadata, spec } = cluster.key
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, feeds: ['BROKERA:NEW'] } }
  await settle()
  expect(cluster.puts.at(-1)).toEqual({ ...first, feeds: ['BROKERA:NEW'] })
  expect(cluster.puts).toHaveLength(2)
  expect(cluster.reasons.at(-1)).toBe('Active')
  // 0 at first, then the version that the first call stored (rejected), then the version that was read.
  const [none, ...later] = cluster.basedOn
  expect(none).toBe(0)
  expect(later).toContain(1_000)
})

/** The object with another issue; with another UID it was deleted and made again. */
const withIssue = ({ metadata, spec }: ApiKeyObject, issue: number, uid = 'u'): ApiKeyObject => ({
  metadata: { ...metadata, uid, generation: issue },
  spec: { ...spec, issue },
})

test('an ApiKey that was made again with a lower issue keeps its secret, and its next issue rotates', async () => {
  const { cluster, settle } = start({ issue: 2 })
  await settle()
  const [first] = cluster.puts
  cluster.key = withIssue(cluster.key, 1, 'u2')
  await settle()
  expect(cluster.puts.at(-1)).toMatchObject({ issue: first?.issue, sha256: first?.sha256, owner: 'u2' })
  cluster.key = withIssue(cluster.key, 2, 'u2')
  await settle()
  expect(cluster.puts.at(-1)?.issue).toBe((first?.issue ?? 0) + 1)
  expect(cluster.puts.at(-1)?.sha256).not.toEqual(first?.sha256)
})

test('while four old secrets are valid a rotation waits, and other changes apply; it completes when one ends', async () => {
  const { cluster, settle } = start({})
  await settle()
  const delivered = cluster.secrets.get('one')
  const keepOldSecrets = (oldSecrets: number): void => {
    for (const rows of [cluster.stored, cluster.keys])
      rows.set('one', { ...(cluster.stored.get('one') as Row), oldSecrets })
  }
  keepOldSecrets(4)
  const changed = withIssue(cluster.key, 2)
  const allowIps = ['192.0.2.1/32']
  cluster.key = { ...changed, spec: { ...changed.spec, allowIps } }
  await settle()
  expect(cluster.puts.at(-1)).toMatchObject({ issue: 1, allowIps })
  expect(cluster.secrets.get('one')).toBe(delivered)
  expect(cluster.reasons.at(-1)).toBe('Refused')
  expect(cluster.messages.at(-1)).toMatch(/4 old secrets that are still valid.*spec.overlap/)
  keepOldSecrets(3)
  await settle()
  expect(cluster.puts.at(-1)?.issue).toBe(2)
})

test.for([
  ['lower', 1, 'u'],
  ['higher, of a deleted object', 3, 'gone'],
] as const)('an issue that only an old cache has (%s) changes nothing', async ([, issue, uid]) => {
  const { cluster, settle } = start({ issue: 2 })
  await settle()
  const digest = cluster.secrets.get('one-digest')
  cluster.live = cluster.key
  cluster.key = withIssue(cluster.key, issue, uid)
  await settle()
  expect(cluster.secrets.get('one-digest')).toEqual(digest)
  const { live } = cluster
  cluster.live = undefined
  cluster.key = withIssue(live, 3)
  await settle()
  expect(cluster.puts.at(-1)?.issue).toBe(2)
})

test('an expired delivered Secret is not deleted while a rotation writes it', async () => {
  const { cluster, clock, store, settle } = start({ delivery: { deleteAfter: '1h' } })
  await settle()
  const delivered = cluster.secrets.get('one') as Secret
  await clock.advance(3_600_000)
  cluster.beforeDelete = () => store(undefined, delivered)
  await settle()
  expect(cluster.secrets.has('one')).toBe(true)
  cluster.beforeDelete = () => undefined
  await settle()
  expect(cluster.secrets.has('one')).toBe(false)
})

test('keys are put with all of their feeds until the list of feeds was read once', async () => {
  const { cluster, settle } = start({ feeds: ['BROKERA:ZERO', 'BROKERA:TWO'] })
  cluster.feeds.isLoaded = false
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO', 'BROKERA:TWO'])
  expect(cluster.reasons.at(-1)).toBe('Active')
})

test.for([
  ['digest', 'one-digest', 'an ApiKey with another name'],
  ['delivery', 'one', 'another delivery.secretName'],
] as const)('a taken name of the %s is reported with advice', async ([, name, advice]) => {
  const { cluster, store, settle } = start({})
  await store(undefined, { metadata: { name } })
  await settle()
  expect(cluster.reasons.at(-1)).toBe('NameTaken')
  expect(cluster.messages.at(-1)).toContain(advice)
})
