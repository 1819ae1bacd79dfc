import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import {
  live,
  openRegistryFixture,
  type RegistryFixture,
  zero,
} from '../../../test/support/fixtures/registry-fixture.ts'
import { symbolBody } from '../../../test/support/fixtures/stream-fixture.ts'
import { definition } from '../../../test/support/samples/samples.ts'
import { lastMinute, weekendBars } from '../../../test/support/samples/weekend-bars.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder, Unavailable } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { parseManifest } from '../../core/manifest/manifest.ts'
import { definitionToManifest } from '../../core/manifest/write.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'

let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())
beforeEach(async () => void (await fixture.restore()))

describe('feeds', () => {
  const eurusd = compoundKey(zero.key, 'EURUSD')

  async function storeBar(minutesAgo: number): Promise<number> {
    const time = feedSeconds(Math.floor(fixture.clock.utcMs() / 60_000) * 60 - minutesAgo * 60)
    const bars = barsOf([{ time, open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }])
    const series = { feed: zero.key, symbol: eurusd, resolution: '1' as const }
    await fixture.stores.bars.write([{ series, bars }], 'backfill')
    await fixture.stores.windows.add([
      { feed: zero.key, symbol: eurusd, resolution: '1', from: time, to: feedSeconds(time + 60) },
    ])
    return time
  }

  test('are listed with their status, hidden ones too', async () => {
    const time = await storeBar(2)
    await applyFeeds(fixture.writer, [zero])
    const { feeds } = await fixture.call('ListFeeds', {})
    expect(feeds).toEqual([
      expect.objectContaining({
        key: 'BROKERA:ZERO',
        hidden: false,
        symbolCount: 2,
        status: 'live',
        livenessSource: 'candle',
        lastBarTime: time,
        source: 'Push',
      }),
      expect.objectContaining({
        key: 'BROKERB:LIVE',
        hidden: true,
        status: 'offline',
        livenessSource: 'none',
      }),
    ])
  })

  test('are listed and shown without liveness while the feed board is unavailable', async () => {
    const board = { read: () => Promise.reject(new Error('connection refused')) }
    const own = await openRegistryFixture({ board } as never)
    onTestFinished(() => own.remove())
    expect((await own.call('ListFeeds', {})).feeds.map(({ key }) => key)).toEqual([
      'BROKERA:ZERO',
      'BROKERB:LIVE',
    ])
    expect(await own.call('GetFeed', { key: zero.key })).toMatchObject({ status: 'offline' })
  })

  test('cannot be listed while the bar store is unavailable, but keys can', async () => {
    const bars = { lastTimes: () => Promise.reject(new Unavailable('store')) }
    const own = await openRegistryFixture({ bars } as never)
    onTestFinished(() => own.remove())
    const { key } = await own.create()
    expect((await own.refusal('ListFeeds', {}))[0]).toBe('UNAVAILABLE')
    expect((await own.call('ListKeys', {})).keys).toEqual([key])
  })

  test('are shown and applied, as without windows, while their table of windows is out of order', async () => {
    const windows = {
      of: () => Promise.reject(new TableOutOfOrder('fxd_windows_brokera_zero', 'is missing')),
    }
    const own = await openRegistryFixture({ windows } as never)
    onTestFinished(() => own.remove())
    expect(await own.call('GetFeed', { key: zero.key })).toMatchObject({ key: zero.key, manyWindows: [] })
    const manifestJson = JSON.stringify(definitionToManifest(definition({ account: 'NEW' })))
    const applied = await own.call('ApplyFeed', { manifestJson, uid: 'a-uid' })
    expect(applied).toMatchObject({ key: expect.stringMatching(/:NEW$/) as string })
  })

  test('list their symbols by name, whatever the order in which they came', async () => {
    const own = await openRegistryFixture()
    onTestFinished(() => own.remove())
    await own.writer.change(() => ({
      rows: ['LATER', 'EARLIER'].map((name) => symbolBody(zero.key, name)),
      result: undefined,
    }))
    const { symbols } = await own.call('GetFeed', { key: zero.key })
    expect(symbols).toContain('BROKERA:ZERO:LATER')
    expect(symbols).toEqual(symbols.toSorted())
  })

  test('are listed on a weekend with the open time of their last minute, not of their weekly bar', async () => {
    const own = await openRegistryFixture()
    onTestFinished(() => own.remove())
    const batch = weekendBars.map(([resolution, bars]) => ({
      series: { feed: zero.key, symbol: eurusd, resolution },
      bars,
    }))
    await own.stores.bars.write(batch, 'backfill')
    const { feeds } = await own.call('ListFeeds', {})
    expect(feeds[0]).toMatchObject({ key: zero.key, lastBarTime: lastMinute })
  })

  test('are listed in pages that fit a message, each feed once and in order', async () => {
    const own = await openRegistryFixture()
    try {
      const added = Array.from({ length: 300 }, (_, i) => definition({ account: `N${1_000 + i}` }))
      const rows = added.map((each) => ({
        kind: 'feed' as const,
        id: each.key,
        body: { definition: { ...each, description: 'x'.repeat(128) }, hidden: false },
      }))
      await own.writer.change(() => ({ rows, result: undefined }))
      const pages: string[][] = []
      let after = ''
      do {
        const { feeds, next } = await own.call('ListFeeds', { after })
        pages.push(feeds.map(({ key }) => key))
        after = next
      } while (after !== '')
      expect(pages.length).toBeGreaterThan(1)
      expect(pages.flat()).toEqual([zero, live, ...added].map(({ key }) => key).sort())
    } finally {
      await own.remove()
    }
  })

  test('a single feed is shown with its symbols and its definition as a manifest', async () => {
    const feed = await fixture.call('GetFeed', { key: zero.key })
    expect(feed.symbols).toEqual(['BROKERA:ZERO:EURUSD', 'BROKERA:ZERO:GBPUSD'])
    expect(parseManifest(JSON.parse(feed.definitionJson))).toEqual({ definition: zero })
  })

  test('a symbol with bars is shown as being read until it has a window', async () => {
    const gbpusd = compoundKey(zero.key, 'GBPUSD')
    const time = feedSeconds(Math.floor(fixture.clock.utcMs() / 60_000) * 60 - 600)
    const shown = async () => {
      const { reading, withoutBars } = await fixture.call('GetFeed', { key: zero.key })
      return [reading.includes(gbpusd), withoutBars.includes(gbpusd)]
    }
    expect(await shown()).toEqual([false, true])
    const bars = barsOf([{ time, open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }])
    const series = { feed: zero.key, symbol: gbpusd, resolution: '1' as const }
    await fixture.stores.bars.write([{ series, bars }], 'backfill')
    expect(await shown()).toEqual([true, false])
    await fixture.stores.windows.add([{ ...series, from: time, to: feedSeconds(time + 60) }])
    expect(await shown()).toEqual([false, false])
    await applyFeeds(fixture.writer, [live])
    await fixture.call('PurgeFeed', { key: zero.key })
  })

  test('a symbol with bars is shown with the resolutions of which it has none', async () => {
    const gbpusd = compoundKey(zero.key, 'GBPUSD')
    const shown = async () => (await fixture.call('GetFeed', { key: zero.key })).resolutionsWithoutBars
    const stored = zero.resolutions.filter((resolution) => resolution !== '30')
    expect(await shown()).toEqual([])
    const bars = barsOf([
      { time: feedSeconds(0), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 },
    ])
    const store = async (resolution: (typeof stored)[number]) => {
      await fixture.stores.bars.write(
        [{ series: { feed: zero.key, symbol: gbpusd, resolution }, bars }],
        'backfill',
      )
    }
    await store('1')
    expect(await shown()).toEqual([{ resolutions: stored.filter((r) => r !== '1'), symbols: [1] }])
    for (const resolution of stored) await store(resolution)
    expect(await shown()).toEqual([])
    await applyFeeds(fixture.writer, [live])
    await fixture.call('PurgeFeed', { key: zero.key })
  })

  test('an unknown feed is NOT_FOUND with a suggestion', async () => {
    expect(await fixture.refusal('GetFeed', { key: 'BROKERA:ZER' })).toEqual([
      'NOT_FOUND',
      expect.stringContaining('did you mean BROKERA:ZERO?'),
    ])
  })

  test('purging removes bars and windows of a feed without a manifest, and of no other feed', async () => {
    await storeBar(2)
    expect((await fixture.refusal('PurgeFeed', { key: zero.key }))[0]).toBe('FAILED_PRECONDITION')
    expect((await fixture.stores.bars.lastTimes(zero.key)).size).toBe(1)
    await applyFeeds(fixture.writer, [live])
    expect(await fixture.call('PurgeFeed', { key: zero.key })).toEqual({ series: 1 })
    expect((await fixture.stores.bars.lastTimes(zero.key)).size).toBe(0)
    expect(await fixture.stores.windows.of(zero.key)).toEqual([])
    expect(await fixture.call('PurgeFeed', { key: zero.key })).toEqual({ series: 0 })
    expect((await fixture.refusal('PurgeFeed', { key: 'BROKERX:NONE' }))[0]).toBe('NOT_FOUND')
  })
})
