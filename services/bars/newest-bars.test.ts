import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { aFeed, aSymbol } from '../../test/support/fixtures/rest-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { barsOf, type RevisedBar, toList } from '../core/bars/bar.ts'
import type { Series } from '../core/bars/series.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { type Reader, serviceReader } from '../core/fair-queue.ts'
import { compoundKey } from '../core/feeds/compound-key.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import { Registry } from '../core/registry/registry.ts'
import { silentLog } from '../platform/log/log.ts'
import type { Follower } from '../ports/bus.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { createHistory } from './history.ts'
import { createNewestBars, newestSeriesMax } from './newest-bars.ts'
import { createTail } from './tail.ts'

const start = Date.UTC(2026, 0, 5) / 1_000
const clock = createVirtualClock({ start: (start + 100 * 86_400) * 1_000 })
const reader = serviceReader('test')
const folder = mkdtempSync(join(tmpdir(), 'fxd-newest-'))

let stores: Stores
beforeAll(async () => {
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
})
afterAll(async () => {
  await stores.close()
  rmSync(folder, { recursive: true })
})

let names = 0
/** The newest bars of a new symbol, and how many reads of history they cost. */
function open() {
  const feed = aFeed('BROKERA', `N${++names}`)
  const symbol = aSymbol(`${feed.key}:X`)
  const registry = new Registry()
  registry.apply({ kind: 'feed', id: feed.key, version: 1, body: { definition: feed, hidden: false } })
  registry.apply({ kind: 'symbol', id: symbol.symbol, version: 2, body: symbol })
  const tail = createTail(stores.bus)
  const { bars, board } = stores
  const history = createHistory({ bars, board, tail, clock, registry: { view: () => registry } })
  let reads = 0
  let duringRead: (() => Promise<void>) | undefined
  const counted: typeof history = {
    ...history,
    async countback(...asked) {
      reads++
      const found = await history.countback(...asked)
      await duringRead?.()
      return found
    },
  }
  let follower: Follower | undefined
  const followed = {
    follow(given: Follower) {
      follower = given
      return stores.bus.follow(given)
    },
  }
  const newest = createNewestBars(counted, followed, clock)
  const fresh = () => createNewestBars(history, { follow: () => () => undefined }, clock)
  const seriesOf = (resolution: Resolution): Series => ({ feed: feed.key, symbol: symbol.symbol, resolution })
  const listOf = async (of: typeof newest, resolution: Resolution, by: Reader = reader) => {
    const { closed, running } = await of.of(seriesOf(resolution), true, by)
    return { closed: toList(closed), running: toList(running) }
  }
  return {
    read: (resolution: Resolution) => listOf(newest, resolution),
    readAnew: (resolution: Resolution) => listOf(fresh(), resolution),
    readBy: (by: Reader) => listOf(newest, '1D', by),
    /** Reads minutes of another symbol, which has none. */
    readOther: (n: number) =>
      newest.of({ feed: feed.key, symbol: compoundKey(feed.key, `S${n}`), resolution: '1' }, true, reader),
    reads: () => reads,
    async push(resolution: Resolution, bar: RevisedBar) {
      const pushedBars = [{ symbol: symbol.symbol, resolution, bar }]
      await stores.bars.write([{ series: seriesOf(resolution), bars: barsOf([bar]) }], 'live')
      const pushed = stores.bus.publish({ type: 'bars', feed: feed.key, bars: pushedBars }, 1)
      await clock.advance(0)
      await pushed
    },
    async revise(resolution: Resolution, bar: RevisedBar) {
      await stores.bars.write([{ series: seriesOf(resolution), bars: barsOf([bar]) }], 'backfill')
      const { time } = bar
      const told = stores.bus.publish(
        { type: 'revised', series: seriesOf(resolution), from: time, to: time },
        1,
      )
      await clock.advance(0)
      await told
    },
    /** Stores a bar without an event. */
    storeSilently: (bar: RevisedBar) =>
      stores.bars.write([{ series: seriesOf('1'), bars: barsOf([bar]) }], 'backfill'),
    /** What happens once, before the next read of history returns. */
    duringRead(act: () => Promise<void>) {
      duringRead = () => {
        duringRead = undefined
        return act()
      }
    },
    lose: () => follower?.lost(feed.key, 1),
    close() {
      newest.close()
      tail.close()
    },
  }
}

const barAt = (minute: number, price: number, revision = 1): RevisedBar => ({
  time: feedSeconds(start + minute * 60),
  open: price,
  high: price + 1,
  low: price - 1,
  close: price,
  volume: price,
  revision,
})

test('bars are read once, and again only after an event about their symbol', async () => {
  const [one, other] = [open(), open()]
  await one.push('1', barAt(0, 5))
  for (let i = 0; i < 5; i++) await one.read('1')
  expect(one.reads()).toBe(1)
  await other.push('1', barAt(0, 5))
  await one.read('1')
  expect(one.reads()).toBe(1)
  await one.push('1', barAt(1, 6))
  expect((await one.read('1')).closed.map((bar) => bar.open)).toEqual([5, 6])
  expect(one.reads()).toBe(2)
  one.close()
  other.close()
})

test('without events, bars are read again after a minute: the running bar has the minutes since', async () => {
  const bars = open()
  await bars.push('1', barAt(0, 5))
  await bars.read('1')
  await bars.read('1D')
  await bars.storeSilently(barAt(1, 9))
  await clock.advance(59_999)
  expect((await bars.read('1')).closed).toHaveLength(1)
  await clock.advance(1)
  expect((await bars.read('1')).closed.map((bar) => bar.open)).toEqual([5, 9])
  expect((await bars.read('1D')).running).toMatchObject([{ open: 5, close: 9, volume: 14 }])
  bars.close()
})

test('a running bar is folded on by each minute, and again as a whole after a loss', async () => {
  const bars = open()
  await bars.push('1', barAt(0, 5))
  await bars.push('1', barAt(1, 9))
  const day = { time: start, open: 5, high: 10, low: 4, close: 9, volume: 14 }
  expect((await bars.read('1D')).running).toMatchObject([day])
  await bars.storeSilently(barAt(0, 7, 2))
  await bars.push('1', barAt(2, 1))
  expect((await bars.read('1D')).running).toMatchObject([{ ...day, low: 0, close: 1, volume: 15 }])
  bars.lose()
  expect((await bars.read('1D')).running).toMatchObject([{ ...day, open: 7, low: 0, close: 1, volume: 17 }])
  bars.close()
})

test('an event during a read is not missed', async () => {
  const bars = open()
  await bars.push('1', barAt(0, 5))
  bars.duringRead(() => bars.push('1', barAt(1, 6)))
  await bars.read('1')
  expect((await bars.read('1')).closed).toHaveLength(2)
  bars.close()
})

test('after a gap the running bar has the one before it, until its closed one comes, also when nothing was kept', async () => {
  const bars = open()
  const dayMinutes = 24 * 60
  await bars.push('1D', barAt(0, 5))
  await bars.push('1', barAt(dayMinutes + 7, 6))
  const shown = async (of: typeof bars.read) => {
    const { closed, running } = await of('1D')
    return [...closed, ...running].map(({ time, close }) => [(time - start) / 86_400, close])
  }
  for (const of of [bars.read, bars.readAnew])
    expect(await shown(of)).toEqual([
      [0, 5],
      [1, 6],
    ])
  await bars.push('1', barAt(4 * dayMinutes, 7))
  for (const of of [bars.read, bars.readAnew])
    expect(await shown(of)).toEqual([
      [0, 5],
      [1, 6],
      [4, 7],
    ])
  await bars.push('1', barAt(5 * dayMinutes, 8))
  for (const of of [bars.read, bars.readAnew])
    expect(await shown(of)).toEqual([
      [0, 5],
      [4, 7],
      [5, 8],
    ])
  await bars.push('1D', barAt(4 * dayMinutes, 9))
  for (const of of [bars.read, bars.readAnew])
    expect(await shown(of)).toEqual([
      [0, 5],
      [4, 9],
      [5, 8],
    ])
  bars.close()
})

test('polls at once share one read, which the end of the first request does not end', async () => {
  const bars = open()
  await bars.push('1', barAt(0, 5))
  let isGone = false
  bars.duringRead(async () => void (isGone = true))
  const first = {
    key: 'a',
    sinceMs: 0,
    get isGone() {
      return isGone
    },
  }
  const answers = await Promise.all(
    [first, ...Array.from({ length: 9 }, () => ({ ...reader, key: 'a' }))].map(bars.readBy),
  )
  expect(answers.map(({ running }) => running)).toEqual(
    answers.map(() => [expect.objectContaining({ close: 5 }) as unknown]),
  )
  expect(bars.reads()).toBe(3)
  bars.close()
})

test('a failed read is not kept', async () => {
  const bars = open()
  await bars.push('1', barAt(0, 5))
  bars.duringRead(() => Promise.reject(new Error('unavailable')))
  const both = await Promise.allSettled([bars.read('1'), bars.read('1')])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect((await bars.read('1')).closed).toHaveLength(1)
  bars.close()
})

test('of more series than the maximum, the one that was read longest ago is read again', async () => {
  const bars = open()
  for (let n = 0; n < newestSeriesMax; n++) await bars.readOther(n)
  await bars.readOther(0)
  expect(bars.reads()).toBe(newestSeriesMax)
  await bars.readOther(newestSeriesMax)
  await bars.readOther(0)
  expect(bars.reads()).toBe(newestSeriesMax + 1)
  await bars.readOther(1)
  expect(bars.reads()).toBe(newestSeriesMax + 2)
  bars.close()
})

const anyStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('minute' as const), gap: fc.integer({ min: 1, max: 100 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('close' as const), gap: fc.integer({ min: 0, max: 3 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('revise' as const), gap: fc.integer({ min: 1, max: 200 }) }),
  },
)

test('what is kept equals what is read anew, after any minutes, closed hours and revisions', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
      const bars = open()
      let minute = 0
      for (const [i, { kind, gap }] of steps.entries()) {
        if (kind === 'minute') {
          minute += gap
          await bars.push('1', barAt(minute, i + 10, i + 1))
        } else if (kind === 'close') {
          const hour = Math.floor(minute / 60) - gap
          if (hour >= 0) await bars.push('60', barAt(hour * 60, i + 10, i + 1))
        } else if (minute > gap) await bars.revise('1', barAt(minute - gap, i + 10, i + 1))
        for (const resolution of ['1', '60', '1D'] as const)
          expect(await bars.read(resolution)).toEqual(await bars.readAnew(resolution))
      }
      bars.close()
    }),
    { numRuns: 40 },
  )
})
