import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { barCount, type RevisedBar, toList } from '../core/bars/bar.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../core/feeds/compound-key.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import { silentLog } from '../platform/log/log.ts'
import type { LiveBar } from '../ports/bus.ts'
import { embeddedBus } from '../stores/embedded/bus.ts'
import { createTail } from './tail.ts'

const [busy, calm] = [feedKey('BROKERA', 'BUSY'), feedKey('BROKERA', 'CALM')]

/** A bar of the minute; greater revisions have greater volumes. */
const bar = (minute: number, revision = 1): RevisedBar => ({
  time: feedSeconds(minute * 60),
  open: 1,
  high: 1,
  low: 1,
  close: 1,
  volume: revision,
  revision,
})

function openTail(barsPerFeedMax?: number) {
  const bus = embeddedBus(createVirtualClock(), silentLog)
  const tail = createTail(bus, barsPerFeedMax)
  const seriesOf = (feed: typeof busy) => ({ feed, symbol: compoundKey(feed, 'X'), resolution: '1' }) as const
  const read = (feed: typeof busy) =>
    toList(tail.bars(seriesOf(feed), feedSeconds(0), feedSeconds(1_000 * 60)))
  return {
    tail,
    /** Publishes one event with the bars, and returns its position. */
    async publish(list: readonly RevisedBar[], feed = busy): Promise<number> {
      const { symbol, resolution } = seriesOf(feed)
      const bars = list.map((each) => ({ symbol, resolution, bar: each }))
      const outcome = await bus.publish({ type: 'bars', feed, bars }, 1)
      return outcome.outcome === 'published' ? outcome.position : expect.unreachable()
    },
    publishAll: (bars: readonly LiveBar[]) => bus.publish({ type: 'bars', feed: busy, bars }, 1),
    settle: () => bus.publish({ type: 'settled', feed: busy }, 1),
    applyTable: (resolution: Resolution, position: number) =>
      bus.publish({ type: 'tableApplied', feed: busy, resolution, position }, 1),
    apply: (position: number) => bus.publish({ type: 'applied', feed: busy, position }, 1),
    minutes: (feed = busy) => read(feed).map(({ time }) => time / 60),
    revisions: () => read(busy).map(({ revision }) => revision),
  }
}

test('pushed bars stay until the store is known to show them', async () => {
  const { publish, apply, minutes } = openTail()
  const first = await publish([bar(1)])
  await publish([bar(2), bar(3)])
  expect(minutes()).toEqual([1, 2, 3])
  await apply(first)
  expect(minutes()).toEqual([2, 3])
})

test('bars of another resolution stay until the store is known to show that resolution', async () => {
  const { publishAll, apply, applyTable, settle, minutes, tail } = openTail()
  const symbol = compoundKey(busy, 'X')
  const fives = () =>
    barCount(tail.bars({ feed: busy, symbol, resolution: '5' }, feedSeconds(0), feedSeconds(60_000)))
  await publishAll([
    { symbol, resolution: '1', bar: bar(5) },
    { symbol, resolution: '5', bar: bar(5) },
  ])
  await apply(1)
  await settle()
  await applyTable('60', 1)
  expect([minutes(), fives()]).toEqual([[], 1])
  await applyTable('5', 1)
  expect(fives()).toBe(0)
})

test('the greater revision of a time stays in any order of arrival', async () => {
  const { publish, minutes, revisions } = openTail()
  await publish([bar(5, 3), bar(4)])
  await publish([bar(5, 2), bar(4, 2)])
  expect(minutes()).toEqual([4, 5])
  expect(revisions()).toEqual([2, 3])
})

test.each([1, 2])(
  'a bar of revision %i that is published again stays until the store shows it',
  async (revision) => {
    const { publish, apply, minutes } = openTail()
    const first = await publish([bar(1, revision)])
    const again = await publish([bar(1)])
    expect(minutes()).toEqual([1])
    await apply(first)
    expect(minutes()).toEqual([1])
    await apply(again)
    expect(minutes()).toEqual([])
  },
)

test('above its maximum the oldest batches of a feed are dropped and counted, those of other feeds stay', async () => {
  const { tail, publish, minutes } = openTail(3)
  await publish([bar(1)], calm)
  await publish([bar(1), bar(2)])
  await publish([bar(3), bar(4)])
  expect(minutes()).toEqual([3, 4])
  expect(minutes(calm)).toEqual([1])
  expect(tail.dropped).toBe(2)
})

test('the oldest batches are dropped and counted although nobody reads the feed', async () => {
  const { tail, publish, minutes } = openTail(3)
  for (let minute = 1; minute <= 20; minute += 1) await publish([bar(minute)])
  expect(tail.dropped).toBe(17)
  expect(minutes()).toEqual([18, 19, 20])
})

test('a closed tail gets no bars', async () => {
  const { tail, publish, minutes } = openTail()
  tail.close()
  await publish([bar(1)])
  expect(minutes()).toEqual([])
})
