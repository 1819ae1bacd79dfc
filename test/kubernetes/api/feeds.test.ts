import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { type FeedObject, resources, type Secret, type Workload } from '../../../operator/kube/resources.ts'
import { setFeedsOwner } from '../../../services/registry/apply-feed.ts'
import { feedRows } from '../../../services/registry/feed-rows.ts'
import { until } from '../../acceptance/client/until.ts'
import { defineFeed } from '../../support/fixtures/ingest-fixture.ts'
import { BarFlow, eurusd } from './support/bar-flow.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  await (await setting.operator('operator-0')).start()
})
afterAll(() => setting?.close())

const registered = (key: string) =>
  setting.ingest.registry
    .view()
    .allFeeds()
    .find(({ definition }) => definition.key === key)

/** Calls `change`, and resolves with how often the feed was seen hidden until `isDone`. */
async function timesHidden(
  key: string,
  change: () => Promise<unknown>,
  isDone: () => boolean,
): Promise<number> {
  let hidden = 0
  const stopListening = setting.ingest.registry.onChange(() => {
    if (registered(key)?.hidden !== false) hidden += 1
  })
  await change()
  await until('the change to be complete', isDone, 40_000)
  stopListening()
  return hidden
}

test('a Push feed is registered and gets a token, but no pod', async () => {
  const { metadata } = await setting.applyFeed('push')
  const feed = await setting.reason<FeedObject>(resources.feeds, 'push', 'Registered')
  expect(registered('BROKERA:ZERO')).toMatchObject({ owner: metadata.uid, hidden: false })
  expect(feed.status).toMatchObject({ key: 'BROKERA:ZERO', state: 'offline', symbols: 0, offsetSeconds: 0 })
  expect(await setting.secret('push-token', 'token')).toMatch(/^ey/)
  expect(await setting.get(resources.statefulsets, 'push-collector')).toBeUndefined()
})

test('the status of a feed with incoming bars shows its state, symbols, offset and newest bar', async () => {
  await setting.applyFeed('flow', {
    account: 'FLOW',
    clock: { mode: 'Fixed', offsetSeconds: -10_800 },
    symbols: { list: [eurusd] },
  })
  await setting.reason(resources.feeds, 'flow', 'Registered')
  const flow = new BarFlow(setting.ingest.address, 'BROKERA:FLOW')
  onTestFinished(() => flow.close())
  const status = await until(
    'the newest bar in the status',
    async () => {
      const feed = await setting.get<FeedObject>(resources.feeds, 'flow')
      return feed?.status?.newestBar !== undefined && feed.status
    },
    40_000,
  )
  expect(status).toMatchObject({ key: 'BROKERA:FLOW', state: 'live', symbols: 1, offsetSeconds: -10_800 })
  expect(flow.opened(`${status.newestBar}Z`)).toBe(true)
}, 60_000)

test('a feed with a source gets a collector, whose pods are replaced with the manifest', async () => {
  const spec = { account: 'SIM', source: { type: 'Simulator' as const, seed: 7 }, collector: { replicas: 2 } }
  await setting.applyFeed('sim', spec)
  await setting.reason(resources.feeds, 'sim', 'CollectorStarting')
  const read = async () =>
    (await setting.get<Workload>(resources.statefulsets, 'sim-collector')) as never as Set
  interface Set {
    metadata: { generation: number }
    spec: {
      replicas: number
      template: {
        metadata: { annotations: Record<string, string> }
        spec: { containers: { env: object[]; volumeMounts: object[] }[] }
      }
    }
  }
  const set = await read()
  expect(set.spec.replicas).toBe(2)
  expect(set.spec.template.spec.containers[0]?.env).toContainEqual({
    name: 'FXD_FEEDS',
    value: '/etc/fxd/feed/feed.yaml',
  })
  const map = (await setting.get(resources.configmaps, 'sim-feed')) as never as {
    data: Record<string, string>
  }
  expect(JSON.parse(map.data['feed.yaml'] ?? '')).toMatchObject({ kind: 'Feed', spec: { account: 'SIM' } })
  await setting.applyFeed('sim', { ...spec, description: 'Another' })
  await until('new pods', async () => {
    const now = await read()
    return (
      now.spec.template.metadata.annotations['marketdata.fxd.dev/manifest'] !==
      set.spec.template.metadata.annotations['marketdata.fxd.dev/manifest']
    )
  })
  expect(registered('BROKERA:SIM')?.definition.description).toBe('Another')
})

test('a feed whose source changes to Push loses its pods', async () => {
  await setting.applyFeed('sim', { account: 'SIM' })
  await setting.reason(resources.feeds, 'sim', 'Registered')
  const set = () => setting.get(resources.statefulsets, 'sim-collector')
  await expect.poll(set).toBeUndefined()
})

test('of two Feeds with one key the older owns it; the other takes over without hiding the feed', async () => {
  const older = await setting.applyFeed('older', { account: 'TWICE' })
  await setting.reason(resources.feeds, 'older', 'Registered')
  await until('the next second', () => Date.now() % 1000 < 100)
  const younger = await setting.applyFeed('younger', { account: 'TWICE' })
  const refused = await setting.reason<FeedObject>(resources.feeds, 'younger', 'DuplicateKey')
  expect(refused.status?.conditions?.[0]?.message).toContain('The Feed older has BROKERA:TWICE already')
  expect(registered('BROKERA:TWICE')?.owner).toBe(older.metadata.uid)
  const hidden = await timesHidden(
    'BROKERA:TWICE',
    () => setting.remove(resources.feeds, 'older'),
    () => registered('BROKERA:TWICE')?.owner === younger.metadata.uid,
  )
  expect(hidden).toBe(0)
})

test('a feed whose object is deleted is hidden', async () => {
  await setting.applyFeed('short', { account: 'SHORT' })
  await setting.reason(resources.feeds, 'short', 'Registered')
  await setting.remove(resources.feeds, 'short')
  await expect.poll(() => registered('BROKERA:SHORT')?.hidden, { timeout: 40_000 }).toBe(true)
})

test('a Feed that manifests own is rejected with the command to hand it over, then accepted', async () => {
  const { writer } = setting.ingest
  const definition = defineFeed({ account: 'OURS', source: { type: 'Push' } })
  await writer.change((view) => ({ rows: feedRows(definition, undefined, view), result: undefined }))
  const { metadata } = await setting.applyFeed('ours', { account: 'OURS' })
  const refused = await setting.reason<FeedObject>(resources.feeds, 'ours', 'Refused')
  expect(refused.status?.conditions?.[0]?.message).toContain('fxd feeds owner operator')
  const hidden = await timesHidden(
    'BROKERA:OURS',
    () => setFeedsOwner(writer, 'operator'),
    () => registered('BROKERA:OURS')?.owner === metadata.uid,
  )
  expect(hidden).toBe(0)
  await setting.reason(resources.feeds, 'ours', 'Registered')
})

test('a token is renewed after half of its validity', async () => {
  const before = await setting.secret('push-token', 'token')
  const soon = new Date(Date.now() + 14 * 86_400_000).toISOString()
  const path = setting.path(resources.secrets, 'push-token')
  await setting.admin.patch(path, { metadata: { annotations: { 'marketdata.fxd.dev/token-expires': soon } } })
  await until('another token', async () => (await setting.secret('push-token', 'token')) !== before)
  const { metadata } = (await setting.get<Secret>(resources.secrets, 'push-token')) as Secret
  const expires = Date.parse(metadata.annotations?.['marketdata.fxd.dev/token-expires'] ?? '')
  expect(expires - Date.now()).toBeGreaterThan(29 * 86_400_000)
  await until('its end in the status', async () => {
    const feed = await setting.get<FeedObject>(resources.feeds, 'push')
    return Date.parse(feed?.status?.tokenExpires ?? '') === expires
  })
})
