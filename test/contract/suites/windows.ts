import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Window } from '../../../services/core/bars/window.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey, type FeedKey } from '../../../services/core/feeds/compound-key.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import { type Open, openedOnce } from './opened.ts'
import { freshFeed } from './sample-bars.ts'

/** Contract of all stores of acknowledged windows; see services/ports/windows.ts. */
export function describeWindowStore(name: string, open: Open<'windows'>): void {
  describe(`windows in ${name}`, () => {
    const opened = openedOnce(open)
    const store = () => opened().stores.windows

    test('windows are stored as a union, for any order, repetition, overlap and number of callers', async () => {
      const anyCall = fc.array(anyWindow, { minLength: 1, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(fc.array(anyCall, { maxLength: 12 }), fc.boolean(), async (calls, atOnce) => {
          const feed = freshFeed()
          const adds = calls.map((call) => call.map((shape) => windowOf(feed, shape)))
          if (atOnce) await Promise.all(adds.map((windows) => store().add(windows)))
          else for (const windows of adds) await store().add(windows)
          expect(asTexts(await store().of(feed))).toEqual(asTexts(unionOf(adds.flat())))
        }),
      )
    })

    test('adjacent windows are joined if they have one series and symbol, and only then', async () => {
      const feed = freshFeed()
      const window = (symbol: string | undefined, resolution: Resolution, from: number, to: number) =>
        windowOf(feed, { symbol, resolution, from, to })
      await store().add([window('A', '1', 0, 60), window(undefined, '1', 60, 120), window('A', '5', 60, 120)])
      await store().add([window('B', '1', 60, 120), window('A', '1', 120, 180)])
      expect(await store().of(feed)).toHaveLength(5)
      await store().add([window('A', '1', 60, 120)])
      const joined = [window('A', '1', 0, 180), window('A', '5', 60, 120), window('B', '1', 60, 120)]
      expect(asTexts(await store().of(feed))).toEqual(asTexts([...joined, window(undefined, '1', 60, 120)]))
    })

    test('the windows of one series are returned in ascending order', async () => {
      const feed = freshFeed()
      for (const from of [500, 100, 900, 300])
        await store().add([windowOf(feed, { symbol: 'A', resolution: '1', from, to: from + 60 })])
      expect((await store().of(feed)).map(({ from }) => from)).toEqual([100, 300, 500, 900])
    })

    test('for one symbol its windows and those of the whole feed are returned, and no others', async () => {
      const feed = freshFeed()
      const of = (symbol: string | undefined, resolution: Resolution, from: number) =>
        windowOf(feed, { symbol, resolution, from, to: from + 60 })
      const ofAll = [of(undefined, '1', 300), of(undefined, '5', 300)]
      const own = [of('A', '1', 0), of('A', '1', 120), of('A', '1D', 0)]
      await store().add([...ofAll, ...own, of('AB', '1', 0), of('B', '1', 120), of("'A'", '1', 0)])
      const reader = { key: 'key-1', sinceMs: 0 }
      expect(asTexts(await store().of(feed, reader, compoundKey(feed, 'A')))).toEqual(
        asTexts([...ofAll, ...own]),
      )
      expect(asTexts(await store().of(feed, reader, compoundKey(feed, 'NONE')))).toEqual(asTexts(ofAll))
      expect(await store().of(freshFeed(), reader, compoundKey(feed, 'A'))).toEqual([])
    })

    test('an empty window adds nothing, and a window that ends before it begins is refused', async () => {
      const feed = freshFeed()
      await store().add([windowOf(feed, { symbol: 'A', resolution: '1', from: 60, to: 60 })])
      await store().add([])
      const backwards = windowOf(feed, { symbol: 'A', resolution: '1', from: 120, to: 60 })
      await expect(store().add([backwards])).rejects.toThrow('[120, 60)')
      expect(await store().of(feed)).toEqual([])
    })

    test('a withdrawal removes its times from the windows of all symbols, and a window that grows does not restore them', async () => {
      const [feed, other] = [freshFeed(), freshFeed()]
      const of = (symbol: string | undefined, from: number, to: number, resolution: Resolution = '1') =>
        windowOf(feed, { symbol, resolution, from, to })
      const untouched = [of('A', 600, 900), of('A', 0, 900, '5')]
      await store().add([of(undefined, 0, 480), of('A', 0, 300), of('B', 120, 180), ...untouched])
      await store().add([windowOf(other, { symbol: 'A', resolution: '1', from: 0, to: 900 })])
      const span = { from: feedSeconds(60), to: feedSeconds(240) }
      const withdrawal = { feed, resolution: '1' as const, span, symbol: undefined, others: [] }
      await store().withdraw(withdrawal)
      const left = [of(undefined, 0, 60), of(undefined, 240, 480), of('A', 0, 60), of('A', 240, 300)]
      expect(asTexts(await store().of(feed))).toEqual(asTexts([...left, ...untouched]))
      expect(await store().of(other)).toHaveLength(1)
      await store().add([of(undefined, 480, 540), of('A', 300, 360)])
      await store().withdraw(withdrawal)
      const grown = [of(undefined, 0, 60), of(undefined, 240, 540), of('A', 0, 60), of('A', 240, 360)]
      expect(asTexts(await store().of(feed))).toEqual(asTexts([...grown, ...untouched]))
    })

    test('a withdrawal for one symbol leaves the other symbols what windows of the whole feed say about them', async () => {
      const feed = freshFeed()
      const of = (symbol: string | undefined, from: number, to: number) =>
        windowOf(feed, { symbol, resolution: '1', from, to })
      await store().add([of(undefined, 0, 480), of('A', 0, 300), of('B', 0, 100)])
      await store().withdraw({
        feed,
        resolution: '1',
        span: { from: feedSeconds(60), to: feedSeconds(240) },
        symbol: compoundKey(feed, 'A'),
        others: [
          { symbol: compoundKey(feed, 'B'), since: feedSeconds(0) },
          { symbol: compoundKey(feed, 'C'), since: feedSeconds(120) },
          { symbol: compoundKey(feed, 'D'), since: undefined },
        ],
      })
      const left = [of(undefined, 0, 60), of(undefined, 240, 480), of('A', 0, 60), of('A', 240, 300)]
      expect(asTexts(await store().of(feed))).toEqual(asTexts([...left, of('B', 0, 240), of('C', 120, 240)]))
    })

    test('a purge removes the windows of its feed and of no other feed', async () => {
      const [kept, purged, after] = [freshFeed(), freshFeed(), freshFeed()]
      const shape = { symbol: '__proto__', resolution: '1D' as const, from: -60, to: 60 }
      await store().add([purged, kept, after].map((feed) => windowOf(feed, shape)))
      await store().purge(purged)
      expect(await store().of(purged)).toEqual([])
      for (const feed of [kept, after]) expect(await store().of(feed)).toEqual([windowOf(feed, shape)])
    })

    test.for(['closed', 'killed'] as const)('an added window survives when the store is %s', async (how) => {
      const feed = freshFeed()
      const windows = [{ symbol: undefined, resolution: '1' as const, from: 0, to: 60 }].map((shape) =>
        windowOf(feed, shape),
      )
      const before = await open()
      await before.stores.windows.add(windows)
      const after = await before.reopen(how)
      expect(await after.stores.windows.of(feed)).toEqual(windows)
      await after.close()
    })
  })
}

interface Shape {
  readonly symbol: string | undefined
  readonly resolution: Resolution
  readonly from: number
  readonly to: number
}

const anyWindow: fc.Arbitrary<Shape> = fc
  .record({
    symbol: fc.constantFrom(undefined, 'A', '__proto__'),
    resolution: fc.constantFrom('1' as const, '5' as const),
    from: fc.integer({ min: -20, max: 20 }),
    length: fc.nat(12),
  })
  .map(({ symbol, resolution, from, length }) => ({ symbol, resolution, from, to: from + length }))

const windowOf = (feed: FeedKey, { symbol, resolution, from, to }: Shape): Window => ({
  feed,
  symbol: symbol === undefined ? undefined : compoundKey(feed, symbol),
  resolution,
  from: feedSeconds(from),
  to: feedSeconds(to),
})

/** Computes the union second by second: slow, but simple. */
function unionOf(windows: readonly Window[]): Window[] {
  const covered = new Map<string, { window: Window; seconds: Set<number> }>()
  for (const window of windows) {
    const id = `${window.symbol} ${window.resolution}`
    const { seconds } = covered.get(id) ?? covered.set(id, { window, seconds: new Set() }).get(id)!
    for (let at: number = window.from; at < window.to; at++) seconds.add(at)
  }
  return [...covered.values()].flatMap(({ window, seconds }) =>
    [...seconds]
      .filter((at) => !seconds.has(at - 1))
      .map((from) => {
        let to = from
        while (seconds.has(to)) to += 1
        return { ...window, from: feedSeconds(from), to: feedSeconds(to) }
      }),
  )
}

const asTexts = (windows: readonly Window[]): string[] =>
  windows
    .map(({ feed, symbol, resolution, from, to }) => `${symbol ?? feed} ${resolution} [${from}, ${to})`)
    .sort()
