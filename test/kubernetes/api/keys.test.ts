import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { type ApiKeyObject, resources, type Secret } from '../../../operator/kube/resources.ts'
import { feedKey } from '../../../services/core/feeds/compound-key.ts'
import { until } from '../../acceptance/client/until.ts'
import { sampleKey } from '../../support/fixtures/stream-fixture.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  await (await setting.operator('operator-0')).start()
  await setting.applyFeed('zero')
  await setting.reason(resources.feeds, 'zero', 'Registered')
})
afterAll(() => setting?.close())

const active = (name: string) => setting.reason<ApiKeyObject>(resources.apikeys, name, 'Active')

test('a key is delivered and valid, and its status shows neither secret nor digest', async () => {
  const { metadata } = await setting.applyKey('first', { plan: 'pro', allowIps: ['192.0.2.0/24'] })
  const key = await active('first')
  const secret = await setting.secret('first')
  expect(secret).toMatch(/^fxd_[0-9a-f]{32}$/)
  expect(setting.opens(secret)).toBe('first')
  expect(key.status).toMatchObject({ id: 'first', issue: 1, state: 'active', prefix: secret.slice(0, 8) })
  expect(key.status?.secretName).toBe('first')
  expect(setting.ingest.registry.view().keys.get('first')).toMatchObject({ owner: metadata.uid, plan: 'pro' })
  const said = JSON.stringify([key, await setting.list(resources.events)])
  expect(said).not.toContain(secret)
})

test('a rotated key is valid with both secrets during the overlap, then only with the new one', async () => {
  await setting.applyKey('rotated', { overlap: '3s' })
  await active('rotated')
  const before = await setting.secret('rotated')
  await setting.applyKey('rotated', { overlap: '3s', issue: 2 })
  await active('rotated')
  const after = await setting.secret('rotated')
  expect(after).not.toBe(before)
  expect(setting.opens(after)).toBe('rotated')
  await until('the old secret to end', () => setting.opens(before) === undefined)
  expect(setting.opens(after)).toBe('rotated')
})

test('a key is not Ready from its expiry on, also while ingest is unavailable', async () => {
  const expires = new Date(Date.now() + 20_000).toISOString()
  await setting.applyKey('ending', { expires })
  await active('ending')
  setting.registry.cut()
  onTestFinished(() => setting.registry.restore())
  const key = await setting.reason<ApiKeyObject>(resources.apikeys, 'ending', 'Expired')
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires))
  expect(key.status).toMatchObject({ state: 'expired', conditions: [{ type: 'Ready', status: 'False' }] })
}, 90_000)

test('a revoked key is invalid, not Ready and cannot be restored', async () => {
  await setting.applyKey('revoked')
  await active('revoked')
  const secret = await setting.secret('revoked')
  await setting.applyKey('revoked', { revoked: true })
  const key = await setting.reason<ApiKeyObject>(resources.apikeys, 'revoked', 'Revoked')
  expect(key.status).toMatchObject({ state: 'inactive', conditions: [{ type: 'Ready', status: 'False' }] })
  expect(setting.opens(secret)).toBeUndefined()
  await expect(setting.applyKey('revoked', { revoked: false })).rejects.toThrow('revoked is final')
})

test('a key whose object is deleted is invalid, and valid with its secret once the object is back', async () => {
  await setting.applyKey('lost')
  await active('lost')
  const secret = await setting.secret('lost')
  await setting.remove(resources.apikeys, 'lost')
  await until('the key to be inactive', () => setting.opens(secret) === undefined, 40_000)
  await setting.applyKey('lost')
  await active('lost')
  expect(await setting.secret('lost')).toBe(secret)
  expect(setting.opens(secret)).toBe('lost')
})

test('a deleted ApiKey with deletionPolicy Delete is invalid within 5 s, loses its Secrets, and gets another secret later', async () => {
  await setting.applyKey('passing')
  await active('passing')
  await setting.applyKey('passing', { deletionPolicy: 'Delete' })
  const secret = await setting.secret('passing')
  const policyOf = async (): Promise<string | undefined> =>
    (await setting.get<Secret>(resources.secrets, 'passing-digest'))?.metadata.annotations?.[
      'marketdata.fxd.dev/deletion-policy'
    ]
  await until('the policy beside the digest', async () => (await policyOf()) === 'Delete')
  const begunMs = performance.now()
  await setting.remove(resources.apikeys, 'passing')
  await until('the key to be inactive', () => setting.opens(secret) === undefined, 5_000)
  console.log(`inactive after ${((performance.now() - begunMs) / 1_000).toFixed(1)} s`)
  for (const name of ['passing', 'passing-digest'])
    await until(`no Secret ${name}`, async () => !(await setting.get(resources.secrets, name)), 60_000)
  await setting.applyKey('passing')
  await active('passing')
  const next = await setting.secret('passing')
  expect(next).not.toBe(secret)
  expect(setting.opens(next)).toBe('passing')
  expect(setting.opens(secret)).toBeUndefined()
}, 90_000)

test('a key whose object and Secrets are restored from a backup is valid with its secret', async () => {
  await setting.applyKey('restored')
  await active('restored')
  const secret = await setting.secret('restored')
  const names = ['restored', 'restored-digest']
  const saved = await Promise.all(names.map((name) => setting.get<Secret>(resources.secrets, name)))
  await setting.remove(resources.apikeys, 'restored')
  // An operator that still sees the key would make another Secret.
  await until('the key to be inactive', () => setting.opens(secret) === undefined, 40_000)
  for (const name of names) await setting.remove(resources.secrets, name)
  for (const each of saved) {
    const { name, labels, annotations } = (each as Secret).metadata
    const metadata = { name, labels, annotations }
    await setting.admin.ask('POST', setting.path(resources.secrets), { metadata, data: each?.data })
  }
  await setting.applyKey('restored')
  await active('restored')
  expect(await setting.secret('restored')).toBe(secret)
  expect(setting.opens(secret)).toBe('restored')
})

test('a key is valid with the secret of the user, and with the next one after a higher issue', async () => {
  const own = (digit: string): string => `fxd_${digit.repeat(32)}`
  const put = (secret: string): Promise<Secret> =>
    setting.admin.apply(setting.path(resources.secrets), {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'my-own' },
      data: { token: Buffer.from(`${secret}\n`).toString('base64') },
    })
  const keyFrom = { secretKeyRef: { name: 'my-own', key: 'token' } }
  await setting.applyKey('own', { keyFrom, overlap: '0s' })
  await setting.reason(resources.apikeys, 'own', 'SecretMissing')
  await put(own('a'))
  await active('own')
  expect(setting.opens(own('a'))).toBe('own')
  await put(own('b'))
  await setting.applyKey('own', { keyFrom, issue: 2, overlap: '0s' })
  await until('the next secret to open', () => setting.opens(own('b')) === 'own')
  expect(setting.opens(own('a'))).toBeUndefined()
  expect(await setting.get(resources.secrets, 'own')).toBeUndefined()
})

test('a delivered Secret is deleted after deleteAfter, and the key stays valid', async () => {
  await setting.applyKey('brief', { delivery: { secretName: 'brief-delivery', deleteAfter: '10s' } })
  const secret = await setting.secret('brief-delivery')
  await active('brief')
  await until('no Secret', async () => (await setting.get(resources.secrets, 'brief-delivery')) === undefined)
  expect(setting.opens(secret)).toBe('brief')
  await until('no name in the status', async () => {
    const key = await setting.get<ApiKeyObject>(resources.apikeys, 'brief')
    return key?.status !== undefined && key.status.secretName === undefined
  })
})

test('a key whose new feeds are all unknown keeps no feed and is rotated, and gets its feed once it exists', async () => {
  await setting.applyKey('moved')
  await active('moved')
  const secret = await setting.secret('moved')
  await setting.applyKey('moved', { feeds: ['BROKERC:LIVE'], issue: 2 })
  await setting.reason<ApiKeyObject>(resources.apikeys, 'moved', 'FeedUnknown')
  const next = await setting.secret('moved')
  expect(next).not.toBe(secret)
  await until('no feed', () => Promise.resolve(setting.grants(next)?.length === 0))
  await setting.applyFeed('third', { broker: 'BROKERC', account: 'LIVE' })
  await active('moved')
  await until('its feed', () => Promise.resolve(setting.grants(next)?.join() === 'BROKERC:LIVE'))
})

test('a key of a missing feed becomes active with the feed', async () => {
  await setting.applyKey('early', { feeds: ['BROKERB:LIVE'] })
  const key = await setting.reason<ApiKeyObject>(resources.apikeys, 'early', 'FeedUnknown')
  expect(key.status?.conditions?.[0]?.message).toContain('BROKERB:LIVE')
  await setting.applyFeed('live', { broker: 'BROKERB', account: 'LIVE' })
  await active('early')
  expect(setting.opens(await setting.secret('early'))).toBe('early')
})

test('a foreign Secret stays unchanged, and the ApiKey reports that its name is taken', async () => {
  await setting.admin.ask('POST', setting.path(resources.secrets), {
    metadata: { name: 'taken' },
    data: { other: 'dGV4dA==' },
  })
  await setting.applyKey('taken')
  await setting.reason(resources.apikeys, 'taken', 'NameTaken')
  expect((await setting.get<Secret>(resources.secrets, 'taken'))?.data).toEqual({ other: 'dGV4dA==' })
})

test('a key of the command line stays unchanged, and the ApiKey reports its owner', async () => {
  const { record, secret } = sampleKey({ id: 'ours', feeds: [feedKey('BROKERA', 'ZERO')] })
  await setting.ingest.writer.change(() => ({
    rows: [{ kind: 'key', id: 'ours', body: record }],
    result: undefined,
  }))
  for (const spec of [{}, { revoked: true }]) {
    await setting.applyKey('ours', spec)
    const key = await setting.reason<ApiKeyObject>(resources.apikeys, 'ours', 'Refused')
    expect(key.status?.conditions?.[0]?.message).toContain('belongs to "fxd keys"')
  }
  expect(setting.opens(secret)).toBe('ours')
  expect(setting.ingest.registry.view().keys.get('ours')).toEqual(record)
}, 60_000)
