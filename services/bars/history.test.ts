import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import { aFeed, aSymbol } from '../../test/support/fixtures/rest-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { type Bars, barsOf, type RevisedBar, toList } from '../core/bars/bar.ts'
import type { Series } from '../core/bars/series.ts'
import { type FeedClock, feedSeconds } from '../core/clocks/feed-clock.ts'
import { serviceReader } from '../core/fair-queue.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import { clockReadingId } from '../core/registry/clock-history.ts'
import { Registry } from '../core/registry/registry.ts'
import { silentLog } from '../platform/log/log.ts'
import type { Stores } from '../ports/stores.ts'
import { openEmbeddedStores } from '../stores/embedded/open.ts'
import { createHistory, type History } from './history.ts'
import { createTail, type Tail } from './tail.ts'

/** Small, so that every answer has many slices. */
const sliceMax = 35
const start = 1_767_571_200
const minutesMax = 240
const clock = createVirtualClock({ start: start * 1000 })
const asker = serviceReader('asker')
const folder = mkdtempSync(join(tmpdir(), 'fxd-bars-'))

let stores: Stores
beforeAll(async () => {
  stores = await openEmbeddedStores({ folder, clock, log: silentLog })
})
afterAll(async () => {
  await stores.close()
  rmSync(folder, { recursive: true })
})

let names = 0
/** A reader of a new symbol, whose clock is `now` seconds after the start; `undefined` if unknown. */
function open(
  now: number | undefined,
  delaySeconds = 0,
): { series: Series; tail: Tail; history: History; registry: Registry } {
  const feedClock: FeedClock =
    now === undefined ? { mode: 'Measured' } : { mode: 'Fixed', offsetSeconds: -now }
  const feed = aFeed('BROKERA', `N${++names}`, { clock: feedClock })
  const symbol = aSymbol(`${feed.key}:X`, { delaySeconds })
  const registry = new Registry()
  registry.apply({ kind: 'feed', id: feed.key, version: 1, body: { definition: feed, hidden: false } })
  registry.apply({ kind: 'symbol', id: symbol.symbol, version: 2, body: symbol })
  const tail = createTail(stores.bus)
  const { bars, board } = stores
  const history = createHistory({ bars, board, tail, clock, registry: { view: () => registry } }, sliceMax)
  return { series: { feed: feed.key, symbol: symbol.symbol, resolution: '1' }, tail, history, registry }
}

type Reader = ReturnType<typeof open>

/** A revision of a minute always has the same values. */
interface Reading {
  readonly minute: number
  readonly revision: number
}

const barOf = ({ minute, revision }: Reading): RevisedBar => {
  const price = 100 + ((minute * 7 + revision * 13) % 50)
  return {
    time: feedSeconds(start + minute * 60),
    open: price,
    high: price + (revision % 3),
    low: price - (revision % 2),
    close: price + 0.5,
    volume: (minute * 3 + revision) % 17,
    revision,
  }
}

const store = ({ series }: Reader, list: readonly RevisedBar[]) =>
  stores.bars.write([{ series, bars: barsOf(list) }], 'live')

async function publish({ series }: Reader, list: readonly RevisedBar[]): Promise<number> {
  const { feed, symbol, resolution } = series
  const bars = list.map((bar) => ({ symbol, resolution, bar }))
  const outcome = await stores.bus.publish({ type: 'bars', feed, bars }, 1)
  await clock.advance(0)
  return outcome.outcome === 'published' ? outcome.position : expect.unreachable()
}

async function collect(slices: AsyncIterable<Bars>): Promise<RevisedBar[]> {
  const all: RevisedBar[] = []
  for await (const slice of slices) {
    expect(slice.time.length).toBeGreaterThan(0)
    all.push(...toList(slice))
  }
  return all
}

/** The expected M1 bars: each time once, with its greatest revision, ascending. */
function union(lists: readonly (readonly RevisedBar[])[]): RevisedBar[] {
  const byTime = new Map<number, RevisedBar>()
  for (const bar of lists.flat()) {
    if ((byTime.get(bar.time)?.revision ?? -1) < bar.revision) byTime.set(bar.time, bar)
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

/** A simple fold, written from the specification. */
function halfHours(m1: readonly RevisedBar[], now: number | undefined, delay: number): RevisedBar[] {
  const buckets = Map.groupBy(m1, ({ time }) => Math.floor(time / 1800) * 1800)
  return [...buckets].flatMap(([time, parts]) => {
    const [first, last] = [parts[0] as RevisedBar, parts.at(-1) as RevisedBar]
    const isOver = now !== undefined && time + 1800 + delay + 5 <= start + now
    const isClosed = isOver || m1.some((bar) => bar.time >= time + 1740)
    const isHalf = first === m1[0] && first.time !== time
    if (!isClosed || isHalf) return []
    return [
      {
        time: feedSeconds(time),
        open: first.open,
        high: Math.max(...parts.map(({ high }) => high)),
        low: Math.min(...parts.map(({ low }) => low)),
        close: last.close,
        volume: parts.reduce((sum, { volume }) => sum + volume, 0),
        revision: Math.max(...parts.map(({ revision }) => revision)),
      },
    ]
  })
}

const readings = (minutes: fc.Arbitrary<number>) =>
  fc.uniqueArray(fc.record({ minute: minutes, revision: fc.integer({ min: 1, max: 9 }) }), {
    selector: ({ minute }) => minute,
    maxLength: 120,
    size: 'max',
  })
const anyMinute = fc.integer({ min: 0, max: minutesMax })
const moment = fc.integer({ min: -60, max: minutesMax * 60 + 3_600 })

const scene = fc.record({
  stored: readings(anyMinute),
  pushed: readings(anyMinute),
  late: readings(anyMinute),
  now: fc.option(moment, { nil: undefined }),
  delay: fc.constantFrom(0, 900),
  from: moment,
  to: moment,
  count: fc.integer({ min: 1, max: 90 }),
})

describe('a reader of store, tail and revisions', () => {
  test.each(['1', '30'] as const)(
    'returns the bars of the simple model at resolution %s',
    async (resolution: Resolution) => {
      await fc.assert(
        fc.asyncProperty(scene, async ({ stored, pushed, late, now, delay, from, to, count }) => {
          const reader = open(now, delay)
          const lists = [stored, pushed, late].map((list) => list.map(barOf))
          await store(reader, lists[0] ?? [])
          await publish(reader, lists[1] ?? [])
          await store(reader, lists[2] ?? [])
          const series = { ...reader.series, resolution }
          const m1 = union(lists)
          const model = resolution === '1' ? m1 : halfHours(m1, now, delay)
          const [first, last] = [start + from, start + to]
          const inRange = model.filter(({ time }) => time >= first && time <= last)
          const upTo = (end: number) => model.filter(({ time }) => time <= end).slice(-count)

          const read = reader.history.range(series, feedSeconds(first), feedSeconds(last), asker)
          expect(await collect(read)).toEqual(inRange)
          const counted = await reader.history.countback(series, count, feedSeconds(last), asker)
          expect(toList(counted)).toEqual(upTo(last))
          const latest = await reader.history.countback(series, count, undefined, asker)
          expect(toList(latest)).toEqual(upTo(now === undefined ? Number.POSITIVE_INFINITY : start + now))
          reader.tail.close()
        }),
        { numRuns: 60 * effort },
      )
    },
  )

  test.each(['1', '30'] as const)(
    'with a measured clock, countback at resolution %s reads bars ahead of its old offset',
    async (resolution) => {
      // The broker's clock went forward by an hour, and the new offset is not measured yet.
      const reader = open(undefined)
      const since = clock.utcMs()
      const body = {
        feed: reader.series.feed,
        source: 'Measured' as const,
        offsetSeconds: 0,
        since,
        measuredAt: since,
      }
      reader.registry.apply({ kind: 'clock', id: clockReadingId(body), version: 3, body })
      await store(
        reader,
        [60, 89].map((minute) => barOf({ minute, revision: 1 })),
      )
      const counted = await reader.history.countback({ ...reader.series, resolution }, 1, undefined, asker)
      expect(toList(counted).map(({ time }) => (time - start) / 60)).toEqual([resolution === '1' ? 89 : 60])
      reader.tail.close()
    },
  )

  test('a bucket of a feed with an unknown clock closes by the newest tick of its session', async () => {
    const reader = open(undefined)
    await store(
      reader,
      [0, 10, 28].map((minute) => barOf({ minute, revision: 1 })),
    )
    const half = { ...reader.series, resolution: '30' } as const
    const count = async () => (await reader.history.countback(half, 5, undefined, asker)).time.length
    expect(await count()).toBe(0)
    await stores.board.note(reader.series.feed, { newestTick: feedSeconds(start + 1804) })
    expect(await count()).toBe(0)
    await stores.board.note(reader.series.feed, { newestTick: feedSeconds(start + 1805) })
    expect(await count()).toBe(1)
    reader.tail.close()
  })

  test.each([
    ['is left out until 5 s after its end while its last minute is missing', 1_804, 28, []],
    ['is returned 5 s after its end without its last minute', 1_805, 28, [0]],
    ['is returned at once when its last minute is there', 1_795, 29, [0]],
    ['is returned at once when a later minute is there', 1_795, 30, [0]],
  ])('a bucket %s', async (_, now, newest, opens) => {
    const reader = open(now)
    await store(
      reader,
      [0, newest].map((minute) => barOf({ minute, revision: 1 })),
    )
    const half = { ...reader.series, resolution: '30' } as const
    const [first, last] = [feedSeconds(start), feedSeconds(start + 1_799)]
    const counted = await reader.history.countback(half, 5, undefined, asker)
    const lists = [toList(counted), await collect(reader.history.range(half, first, last, asker))]
    for (const list of lists) expect(list.map(({ time }) => time - start)).toEqual(opens)
    reader.tail.close()
  })

  test('10,000 half hours are read across gaps of weeks', async () => {
    const reader = open(10 ** 9)
    const sparse = Array.from({ length: 300 }, (_, i) => barOf({ minute: i * 20_160, revision: 1 }))
    await store(reader, sparse)
    const half = { ...reader.series, resolution: '30' } as const
    expect(
      toList(await reader.history.countback(half, 10_000, undefined, asker)).map(({ open: price }) => price),
    ).toEqual(sparse.map(({ open: price }) => price))
    reader.tail.close()
  })
})
