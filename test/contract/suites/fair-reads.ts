import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { barCount } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { type Reader, serviceReader } from '../../../services/core/fair-queue.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import { type Open, openedOnce } from './opened.ts'
import { always, batchOf, freshFeed, minuteBars, seriesOf, start } from './sample-bars.ts'

const storedBars = 20_000
const sliceBars = 10_000
/** Maximum reads of other keys that end during one read: those in progress, and one turn. */
const othersMax = 100
const victimReads = 20

/** Requests that one client may send within a minute; each reads several slices. */
const floods = [
  { what: 'folds of 10,000 buckets of 30 minutes', requests: 590, slices: 30 },
  { what: 'whole ranges of M1', requests: 300, slices: 12 },
  { what: 'coverages', requests: 590, slices: 40 },
] as const

/** Contract: keys take turns at reading; see services/ports/bars.ts. */
export function describeFairReads(name: string, open: Open<'bars' | 'windows'>): void {
  describe(`fair reads in ${name}`, () => {
    const opened = openedOnce(open)
    const feed = freshFeed()
    const [busy, idle] = [seriesOf('BUSY', '1', feed), seriesOf('CALM', '1', feed)]
    const bars = () => opened().stores.bars
    let isOver = false
    let answered = 0

    beforeAll(async () => {
      await bars().write([batchOf(busy, minuteBars(0, storedBars))], 'backfill')
      await bars().write([batchOf(idle, minuteBars(0, 300))], 'backfill')
      await opened().stores.windows.add([{ ...busy, from: feedSeconds(start), to: feedSeconds(start + 600) }])
    })
    afterAll(() => {
      isOver = true
    })

    const readSlice = (store: BarStore, reader: Reader) =>
      store.read({ series: busy, ...always, take: { count: sliceBars, end: 'newest' }, reader })
    const slice = (what: string, reader: Reader): Promise<unknown> => {
      if (what !== 'coverages') return readSlice(bars(), reader)
      const span = { from: feedSeconds(start), to: feedSeconds(start + 600) }
      return Promise.all([
        opened().stores.windows.of(feed, reader),
        bars().bounds(busy, Array<typeof span>(20).fill(span), reader),
      ])
    }
    /** One request; it ends at the first failed read. */
    const request = async (what: string, slices: number, reader: Reader): Promise<void> => {
      for (let i = 0; i < slices && !isOver; i++) {
        await slice(what, reader)
        answered += 1
      }
    }

    test.each(floods)(
      'while one key requests $requests $what, each read of another key is answered after about one turn',
      async ({ what, requests, slices }) => {
        isOver = false
        const flood = Array.from({ length: requests }, (_, sinceMs) => {
          const reader: Reader = {
            key: 'flooding',
            sinceMs,
            get isGone() {
              return isOver
            },
          }
          return request(what, slices, reader).catch(() => undefined)
        })
        const others: number[] = []
        for (let i = 0; i < victimReads; i++) {
          const before = answered
          const read = await bars().read({
            series: idle,
            ...always,
            take: { count: 300, end: 'newest' },
            reader: serviceReader('idle'),
          })
          expect(barCount(read)).toBe(300)
          others.push(answered - before)
        }
        isOver = true
        await Promise.all(flood)
        expect(Math.max(...others)).toBeLessThan(othersMax)
      },
    )

    test('the event loop keeps turning between the slices of many readers', async () => {
      let turns = 0
      let isCounting = true
      const count = (): void => {
        turns += 1
        if (isCounting) setImmediate(count)
      }
      setImmediate(count)
      const answersOfTurn = new Map<number, number>()
      const readers = Array.from({ length: 12 }, async (_, i) => {
        const as = { take: { count: 10, end: 'newest' }, reader: serviceReader(`r${i}`) } as const
        for (let j = 0; j < 6; j++) {
          await bars().read({ series: busy, ...always, ...as })
          answersOfTurn.set(turns, (answersOfTurn.get(turns) ?? 0) + 1)
          // Simulates the work of an edge on a slice; meanwhile the store prepares the next answers.
          spin(20)
        }
      })
      await Promise.all(readers)
      isCounting = false
      expect(Math.max(...answersOfTurn.values())).toBeLessThanOrEqual(readers.length)
    })
  })
}

function spin(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}
