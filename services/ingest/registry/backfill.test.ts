import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { defineFeed } from '../../../test/support/fixtures/ingest-fixture.ts'
import {
  openRegistryFixture,
  type RegistryFixture,
  zero,
} from '../../../test/support/fixtures/registry-fixture.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { applyFeeds } from '../../registry/apply-feeds.ts'

const list = [{ raw: 'EURUSD', type: 'forex', digits: 5 }]
const simulated = defineFeed({
  broker: 'BROKERC',
  resolutions: ['1', '1D'],
  depth: { '1': '10d' },
  earliest: '2026-01-01',
  symbols: { list },
  source: { type: 'Simulator', seed: 1 },
})
const measured = defineFeed({
  broker: 'BROKERD',
  clock: { mode: 'Measured' },
  retention: { '1': '10d' },
  symbols: { list },
})
const day = 86_400

let fixture: RegistryFixture
let now: number
beforeAll(async () => {
  fixture = await openRegistryFixture()
  now = fixture.clock.utcMs() / 1_000
})
afterAll(() => fixture.remove())
beforeEach(async () => void (await applyFeeds(fixture.writer, [zero, simulated, measured])))

const cover = (feed: FeedDefinition, resolution: '1' | '1D', from: number, to: number): Promise<void> =>
  fixture.stores.windows.add([
    {
      feed: feed.key,
      symbol: compoundKey(feed.key, 'EURUSD'),
      resolution,
      from: feedSeconds(from),
      to: feedSeconds(to),
    },
  ])

test('times before the depth or the earliest date keep their windows, since the collector would not send their bars', async () => {
  const { key } = simulated
  await cover(simulated, '1', now - 30 * day, now)
  await cover(simulated, '1D', now - 500 * day, now)
  const { ranges } = await fixture.call('Backfill', { feed: key, from: now - 600 * day, to: now - day })
  const [first, last] = [now - 10 * day, Date.UTC(2026, 0, 1) / 1_000]
  expect(ranges).toEqual([
    { resolution: '1', from: first, to: now - day, symbols: 1 },
    { resolution: '1D', from: last, to: now - day, symbols: 1 },
  ])
  const left = await fixture.stores.windows.of(key)
  expect(left.map(({ resolution, from, to }) => [resolution, from, to])).toEqual([
    ['1', now - 30 * day, first],
    ['1', now - day, now],
    ['1D', now - 500 * day, last],
    ['1D', now - day, now],
  ])
})

test('a range of which the collector reads nothing is refused with the times that it reads', async () => {
  const request = { feed: simulated.key, resolutions: ['1'], from: now - 30 * day, to: now - 20 * day }
  expect(await fixture.refusal('Backfill', request)).toEqual([
    'FAILED_PRECONDITION',
    'The collector of BROKERC:ZERO sends nothing in this range: it reads 1 from 2026-11-11 on, as spec.depth, ' +
      'spec.retention and spec.earliest of the Feed manifest say.',
  ])
})

test('while the clock of a feed with a retention is unknown, a backfill is refused', async () => {
  const request = { feed: measured.key, from: now - 2 * day, to: now - day }
  expect(await fixture.refusal('Backfill', request)).toEqual([
    'FAILED_PRECONDITION',
    expect.stringContaining('The clock of BROKERD:ZERO is not known yet'),
  ])
})

test('a hidden feed is refused', async () => {
  await applyFeeds(fixture.writer, [zero])
  const request = { feed: simulated.key, from: now - 2 * day, to: now - day }
  expect(await fixture.refusal('Backfill', request)).toEqual([
    'FAILED_PRECONDITION',
    'BROKERC:ZERO has no manifest any more: no collector sends its bars.',
  ])
})

test('a repeated backfill writes its record again, since the first one may have failed before it', async () => {
  const request = { feed: zero.key, from: now - 2 * day, to: now - day }
  await fixture.call('Backfill', request)
  const first = fixture.registry.view().backfills.get(zero.key)
  expect((await fixture.call('Backfill', request)).ranges).toEqual([])
  expect(fixture.registry.view().backfills.get(zero.key)).toBeGreaterThan(first ?? Number.NaN)
})
