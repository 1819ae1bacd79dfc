import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type ApiKeyObject, resources, type Secret } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import { crashUntil } from './support/crash-until.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
let operator: OperatorProcess
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  operator = await setting.operator('operator-0')
})
afterAll(() => setting?.close())

const reasonOf = async (
  of: 'feeds' | 'apikeys' | 'streampools',
  name: string,
): Promise<string | undefined> => {
  interface Conditioned {
    readonly metadata: { readonly name: string; readonly generation?: number }
    readonly status?: {
      readonly observedGeneration?: number
      readonly conditions?: { type: string; reason: string }[]
    }
  }
  const object = await setting.get<Conditioned>(resources[of], name)
  const isCurrent = object?.status?.observedGeneration === object?.metadata.generation
  return isCurrent ? object?.status?.conditions?.find(({ type }) => type === 'Ready')?.reason : undefined
}

const template = {
  metadata: { labels: { 'app.kubernetes.io/component': 'stream' } },
  spec: { containers: [{ name: 'stream', image: 'fxd:test', args: ['stream'] }] },
}

test('an operator that is killed after each write of an object or the registry completes its work', async () => {
  const owner = (await setting.applyFeed('sim', { source: { type: 'Simulator' } })).metadata.uid
  await setting.applyKey('key')
  await setting.applyPool('pool', { template })
  const { runs } = await crashUntil(
    { ...setting, operator },
    async () =>
      (await reasonOf('feeds', 'sim')) === 'CollectorStarting' &&
      (await reasonOf('apikeys', 'key')) === 'Active' &&
      (await reasonOf('streampools', 'pool')) === 'ShardsNotReady',
  )
  expect(runs).toBeGreaterThan(10)
  const registry = setting.ingest.registry.view()
  expect(registry.allFeeds()).toMatchObject([{ definition: { key: 'BROKERA:ZERO' }, owner, hidden: false }])
  expect(setting.opens(await setting.secret('key'))).toBe('key')
  expect(registry.keys.get('key')).toMatchObject({ issue: 1 })
  for (const of of [
    resources.statefulsets,
    resources.deployments,
    resources.services,
    resources.poddisruptionbudgets,
  ])
    expect(await setting.list(of), of.plural).toHaveLength(1)
}, 300_000)

test('a change of a feed is completed after crashes, including one after its registration', async () => {
  await setting.applyFeed('sim', { source: { type: 'Simulator' }, description: 'Another' })
  const { registry } = await crashUntil(
    { ...setting, operator },
    async () => (await reasonOf('feeds', 'sim')) === 'CollectorStarting',
  )
  expect(registry).toBe(1)
  const [feed] = setting.ingest.registry.view().allFeeds()
  expect(feed?.definition.description).toBe('Another')
  const map = (await setting.get(resources.configmaps, 'sim-feed')) as never as {
    data: Record<string, string>
  }
  expect(map.data['feed.yaml']).toContain('Another')
}, 300_000)

test('a rotation is completed after crashes, and the delivered secret is valid', async () => {
  const before = await setting.secret('key')
  await setting.applyKey('key', { issue: 2, overlap: '1h' })
  const { runs, registry } = await crashUntil(
    { ...setting, operator },
    async () => (await reasonOf('apikeys', 'key')) === 'Active',
  )
  expect(runs).toBeGreaterThan(2)
  expect(registry).toBe(1)
  const after = await setting.secret('key')
  expect(after).not.toBe(before)
  expect(setting.opens(after)).toBe('key')
  expect(setting.opens(before)).toBe('key')
  const { metadata } = (await setting.get<Secret>(resources.secrets, 'key')) as Secret
  const issue = setting.ingest.registry.view().keys.get('key')?.issue
  expect(metadata.annotations?.['marketdata.fxd.dev/issue']).toBe(String(issue))
}, 300_000)

test('a key whose digest is lost is valid with the last delivered secret', async () => {
  await setting.remove(resources.secrets, 'key-digest')
  await crashUntil(
    { ...setting, operator },
    async () => (await setting.get(resources.secrets, 'key-digest')) !== undefined,
  )
  const secret = await setting.secret('key')
  await operator.start()
  await until('the key to open', () => setting.opens(secret) === 'key')
  const key = await setting.get<ApiKeyObject>(resources.apikeys, 'key')
  expect(key?.status?.prefix).toBe(secret.slice(0, 8))
  await operator.kill()
}, 300_000)

test('a Feed that becomes a Push feed loses its collector after crashes, and stays registered', async () => {
  await setting.applyFeed('sim', { source: { type: 'Push' } })
  const { registry } = await crashUntil(
    { ...setting, operator },
    async () =>
      (await reasonOf('feeds', 'sim')) === 'Registered' &&
      (await setting.list(resources.statefulsets)).length === 0 &&
      (await setting.get(resources.configmaps, 'sim-feed')) === undefined,
  )
  expect(registry).toBe(1)
  expect(setting.ingest.registry.view().allFeeds()).toMatchObject([{ hidden: false }])
}, 300_000)

test('a revocation is completed after crashes', async () => {
  const secret = await setting.secret('key')
  await setting.applyKey('key', { issue: 2, revoked: true })
  const { registry } = await crashUntil(
    { ...setting, operator },
    async () => (await reasonOf('apikeys', 'key')) === 'Revoked',
  )
  expect(registry).toBe(1)
  expect(setting.opens(secret)).toBeUndefined()
}, 300_000)

test('the feed and the key of deleted objects are removed after crashes, each by one call', async () => {
  await setting.applyKey('second')
  await operator.start()
  await until('the second key', async () => (await reasonOf('apikeys', 'second')) === 'Active', 60_000)
  await operator.kill()
  const secret = await setting.secret('second')
  expect(setting.opens(secret)).toBe('second')
  await setting.remove(resources.feeds, 'sim')
  await setting.remove(resources.apikeys, 'second')
  const isHidden = (): boolean =>
    setting.ingest.registry
      .view()
      .allFeeds()
      .every(({ hidden }) => hidden)
  const { registry } = await crashUntil({ ...setting, operator }, async () =>
    Promise.resolve(isHidden() && setting.opens(secret) === undefined),
  )
  expect(registry).toBe(2)
}, 300_000)
