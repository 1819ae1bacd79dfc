import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { type Put, type Row, startKey } from '../../test/support/fixtures/api-key-fixture.ts'
import type { ApiKeyObject, Secret } from '../kube/resources.ts'

test('a change of a user Secret after its ApiKey replaces the key', async () => {
  const { cluster, own, settle } = startKey({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
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

test('a key is not ready from the time at which it expires, without any change', async () => {
  const { cluster, clock, settle } = startKey({})
  await settle()
  expect([cluster.ready.at(-1), cluster.reasons.at(-1)]).toEqual(['True', 'Active'])
  const row = { ...(cluster.stored.get('one') as Row), owner: 'u', expiresAt: clock.utcMs() + 90_000 }
  cluster.keys.set('one', row)
  expect(await settle()).toBe(90_000)
  await clock.advance(89_999)
  expect(await settle()).toBe(1)
  expect(cluster.reasons.at(-1)).toBe('Active')
  await clock.advance(1)
  expect(await settle()).toBeUndefined()
  expect([cluster.ready.at(-1), cluster.reasons.at(-1)]).toEqual(['False', 'Expired'])
})

test('a key with a removed feed works with its other feeds, and with that feed once it exists again', async () => {
  const { cluster, settle } = startKey({ feeds: ['BROKERA:ZERO', 'BROKERA:GONE'] })
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO'])
  expect(cluster.reasons.at(-1)).toBe('FeedsMissing')
  cluster.feeds.set('BROKERA:GONE', { hidden: false })
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO', 'BROKERA:GONE'])
  expect(cluster.reasons.at(-1)).toBe('Active')
})

test('a key keeps the feeds that it has while the operator does not know which other ones are missing', async () => {
  const { cluster, settle } = startKey({ feeds: ['BROKERA:ZERO', 'BROKERA:FUTURE'] })
  await settle()
  cluster.feeds.isLoaded = false
  cluster.unknown.add('BROKERA:FUTURE')
  const { metadata, spec } = cluster.key
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, plan: 'standard' } }
  await settle()
  expect(cluster.stored.get('one')).toMatchObject({ feeds: ['BROKERA:ZERO'], plan: 'standard' })
})

test('a key whose new feeds are all unknown keeps no feed, is rotated, and gets its feed once it exists', async () => {
  const { cluster, settle } = startKey({ feeds: ['BROKERA:ZERO'] })
  await settle()
  const { metadata, spec } = cluster.key
  cluster.key = {
    metadata: { ...metadata, generation: 2 },
    spec: { ...spec, feeds: ['BROKERA:PRO'], issue: 2 },
  }
  await settle()
  expect(cluster.stored.get('one')).toMatchObject({ state: 'active', feeds: [], issue: 2 })
  expect(cluster.reasons.at(-1)).toBe('FeedUnknown')
  cluster.feeds.set('BROKERA:PRO', { hidden: false })
  await settle()
  expect(cluster.stored.get('one')).toMatchObject({ state: 'active', feeds: ['BROKERA:PRO'], issue: 2 })
  expect(cluster.reasons.at(-1)).toBe('Active')
})

test.for([
  ['into the Secret of the digest', { secretName: 'one-digest' }],
  ['that ends at once', { deleteAfter: '0s' }],
] as const)('a delivery %s is rejected, and nothing is written', async ([, delivery]) => {
  const { cluster, settle } = startKey({ delivery })
  await settle()
  expect(cluster.reasons.at(-1)).toBe('Invalid')
  expect(cluster.secrets.size).toBe(0)
})

test('a digest with another secret than the registry has for its issue is put again with the next issue', async () => {
  const { cluster, settle } = startKey({})
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
  const { cluster, settle } = startKey({})
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
  const { cluster, settle } = startKey({ issue: 2 })
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
  const { cluster, settle } = startKey({})
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
  const { cluster, settle } = startKey({ issue: 2 })
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
  const { cluster, clock, store, settle } = startKey({ delivery: { deleteAfter: '1h' } })
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
  const { cluster, settle } = startKey({ feeds: ['BROKERA:ZERO', 'BROKERA:TWO'] })
  cluster.feeds.isLoaded = false
  await settle()
  expect(cluster.puts.at(-1)?.feeds).toEqual(['BROKERA:ZERO', 'BROKERA:TWO'])
  expect(cluster.reasons.at(-1)).toBe('Active')
})

test.for([
  ['digest', 'one-digest', 'an ApiKey with another name'],
  ['delivery', 'one', 'another delivery.secretName'],
] as const)('a taken name of the %s is reported with advice', async ([, name, advice]) => {
  const { cluster, store, settle } = startKey({})
  await store(undefined, { metadata: { name } })
  await settle()
  expect(cluster.reasons.at(-1)).toBe('NameTaken')
  expect(cluster.messages.at(-1)).toContain(advice)
})

test.for(['active', 'revoked'])(
  'a changed deletionPolicy of a key that is %s is kept beside its digest',
  async (state) => {
    const { cluster, settle } = startKey({})
    await settle()
    const policyOf = () =>
      cluster.secrets.get('one-digest')?.metadata.annotations?.['marketdata.fxd.dev/deletion-policy']
    expect(policyOf()).toBeUndefined()
    const change = async (spec: object) => {
      const { metadata } = cluster.key
      const generation = (metadata.generation ?? 0) + 1
      cluster.key = { metadata: { ...metadata, generation }, spec: { ...cluster.key.spec, ...spec } }
      await settle()
    }
    if (state === 'revoked') await change({ revoked: true })
    await change({ deletionPolicy: 'Delete' })
    expect(policyOf()).toBe('Delete')
    await change({ deletionPolicy: 'Retain' })
    expect(policyOf()).toBe('Retain')
    expect(cluster.puts).toHaveLength(1)
  },
)

test('a key that expires while ingest refuses its steps is not ready', async () => {
  const { cluster, clock, controller, settle } = startKey({})
  await settle()
  const expiresAt = clock.utcMs() + 90_000
  cluster.keys.set('one', { ...(cluster.stored.get('one') as Row), owner: 'u', expiresAt, version: 1_000 })
  cluster.refusal = () => ({ code: status.UNAVAILABLE, details: 'away' })
  const { metadata, spec } = cluster.key
  const conditions = [{ type: 'Ready', status: 'True' }]
  cluster.key = { metadata, spec, status: { observedGeneration: 1, conditions } } as unknown as ApiKeyObject
  await expect(controller.reconcile('one')).rejects.toThrow('away')
  expect(cluster.reasons.at(-1)).toBe('Active')
  await clock.advance(90_000)
  await expect(controller.reconcile('one')).rejects.toThrow('away')
  expect([cluster.ready.at(-1), cluster.reasons.at(-1)]).toEqual(['False', 'Expired'])
})
