import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { base64, type Row, startKey } from '../../test/support/fixtures/api-key-fixture.ts'

test('a revoked key is not ready', async () => {
  const { cluster, settle } = startKey({ revoked: true })
  await settle()
  expect([cluster.ready.at(-1), cluster.reasons.at(-1)]).toEqual(['False', 'Revoked'])
})

test('a revoked key is revoked although its delivery is rejected', async () => {
  const { cluster, settle } = startKey({})
  await settle()
  const { metadata, spec } = cluster.key
  const changed = { ...spec, revoked: true, delivery: { deleteAfter: '0s' } }
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: changed }
  await settle()
  expect(cluster.revoked).toEqual(['one'])
  expect(cluster.reasons.at(-1)).toBe('Revoked')
})

test.for([
  ['is gone', undefined, 'SecretMissing'],
  ['is malformed', 'a word', 'Invalid'],
] as const)("fewer feeds and addresses apply while the user's Secret %s", async ([, value, reason]) => {
  const { cluster, own, store, settle } = startKey({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
  await own('a')
  await settle()
  const [first] = cluster.puts
  if (value === undefined) cluster.secrets.delete('own')
  else await store(undefined, { metadata: { name: 'own' }, data: { key: base64(value) } })
  const { metadata, spec } = cluster.key
  const allowIps = ['192.0.2.1/32']
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, allowIps } }
  await settle()
  expect(cluster.puts.slice(1)).toEqual([{ ...first, allowIps }])
  expect(cluster.reasons.at(-1)).toBe(reason)
})

test('fewer addresses apply while the Secret that delivers the key belongs to another object', async () => {
  const { cluster, store, settle } = startKey({})
  await settle()
  const [first] = cluster.puts
  await store(undefined, { metadata: { name: 'one' } })
  const { metadata, spec } = cluster.key
  const allowIps = ['192.0.2.1/32']
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, allowIps } }
  await settle()
  expect(cluster.puts.slice(1)).toEqual([{ ...first, allowIps }])
  expect(cluster.reasons.at(-1)).toBe('NameTaken')
})

test("a suspended key stays suspended while the user's Secret is gone", async () => {
  const { cluster, own, settle } = startKey({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
  await own('a')
  await settle()
  cluster.secrets.delete('own')
  for (const rows of [cluster.stored, cluster.keys])
    rows.set('one', { ...(cluster.stored.get('one') as Row), state: 'inactive', version: 1_000 })
  const { length } = cluster.puts
  await settle()
  expect(cluster.puts).toHaveLength(length)
  await own('a')
  await settle()
  expect(cluster.keys.get('one')?.state).toBe('active')
})

test('an invalid spec delivers no new secret, and is applied with it once it is valid', async () => {
  const { cluster, settle } = startKey({})
  await settle()
  const delivered = cluster.secrets.get('one')
  const { metadata, spec } = cluster.key
  cluster.refusal = () => ({ code: status.INVALID_ARGUMENT, details: 'expires: got 2027-02-30' })
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, issue: 2 } }
  await settle()
  expect(cluster.secrets.get('one')).toEqual(delivered)
  expect(cluster.reasons.at(-1)).toBe('Invalid')
  cluster.refusal = () => undefined
  cluster.key = { metadata: { ...metadata, generation: 3 }, spec: { ...spec, issue: 2 } }
  await settle()
  expect(cluster.secrets.get('one')).not.toEqual(delivered)
  expect(cluster.stored.get('one')).toMatchObject({ issue: 2 })
})

test("fewer addresses apply while the user's Secret has the secret of another key", async () => {
  const { cluster, own, settle } = startKey({ keyFrom: { secretKeyRef: { name: 'own', key: 'key' } } })
  await own('a')
  await settle()
  const [first] = cluster.puts
  cluster.refusal = ({ sha256 }) =>
    sha256.equals(first?.sha256 as Buffer)
      ? undefined
      : { code: status.ALREADY_EXISTS, details: 'sha256: the key two already has this secret' }
  await own('b')
  await settle()
  expect(cluster.reasons.at(-1)).toBe('SecretInUse')
  const { metadata, spec } = cluster.key
  const allowIps = ['192.0.2.1/32']
  cluster.key = { metadata: { ...metadata, generation: 2 }, spec: { ...spec, allowIps } }
  await settle()
  expect(cluster.puts.slice(1)).toEqual([{ ...first, allowIps }])
  expect(cluster.reasons.at(-1)).toBe('SecretInUse')
})

test("a key with the user's secret and only unknown feeds keeps its issue", async () => {
  const keyFrom = { secretKeyRef: { name: 'own', key: 'key' } }
  const { cluster, own, settle } = startKey({ keyFrom, feeds: ['BROKERA:TYPO'] })
  await own('a')
  await settle()
  expect(cluster.stored.get('one')).toMatchObject({ feeds: [], issue: 1 })
  expect(cluster.reasons.at(-1)).toBe('FeedUnknown')
  const { length } = cluster.puts
  await settle()
  expect(cluster.puts).toHaveLength(length)
  expect(cluster.stored.get('one')).toMatchObject({ issue: 1 })
})

test('an ApiKey that was made again with another delivery gets a new secret there', async () => {
  const { cluster, settle } = startKey({})
  await settle()
  const [first] = cluster.puts
  const { metadata, spec } = cluster.key
  const delivery = { secretName: 'elsewhere' }
  cluster.key = { metadata: { ...metadata, uid: 'u2', generation: 1 }, spec: { ...spec, delivery } }
  await settle()
  expect(cluster.secrets.has('elsewhere')).toBe(true)
  expect(cluster.puts.at(-1)).toMatchObject({ issue: (first?.issue ?? 0) + 1, owner: 'u2' })
  expect(cluster.reasons.at(-1)).toBe('Active')
})
