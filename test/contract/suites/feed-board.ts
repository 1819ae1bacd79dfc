import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feedSeconds, utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { leadMsMax } from '../../../services/core/feeds/feed-status.ts'
import type { FeedLiveness } from '../../../services/ports/feed-board.ts'
import { type Open, openedOnce } from './opened.ts'
import { freshFeed } from './sample-bars.ts'

/** Contract of all feed boards; see services/ports/feed-board.ts. */
export function describeFeedBoard(name: string, open: Open<'board'>): void {
  describe(`the feed board in ${name}`, () => {
    const opened = openedOnce(open)
    const board = () => opened().stores.board

    test('a field has the greatest noted value, and is absent before the first', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyLiveness, { minLength: 1, maxLength: 10 }), async (notes) => {
          const feed = freshFeed()
          await Promise.all(notes.map((liveness) => board().note(feed, liveness)))
          const seen = (await board().read([feed])).get(feed)
          for (const field of fields) {
            const noted = notes.flatMap((liveness) => liveness[field] ?? [])
            expect(seen?.[field]).toBe(noted.length === 0 ? undefined : Math.max(...noted))
          }
        }),
      )
    })

    test('a receipt or heartbeat more than a minute ahead of a later note is replaced by it', async () => {
      const feed = freshFeed()
      const liveness = (ms: number) => ({ receivedAt: utcMs(ms), heartbeatAt: utcMs(ms) })
      const now = 1_767_000_000_000
      const times = { newestBar: feedSeconds(7_200), newestTick: feedSeconds(7_200) }
      await board().note(feed, { ...liveness(now + leadMsMax), ...times })
      await board().note(feed, { ...liveness(now), newestBar: feedSeconds(0), newestTick: feedSeconds(0) })
      expect((await board().read([feed])).get(feed)).toEqual({ ...liveness(now + leadMsMax), ...times })
      await board().note(feed, liveness(now - 1))
      expect((await board().read([feed])).get(feed)).toEqual({ ...liveness(now - 1), ...times })
    })

    test('a read returns only the requested feeds, without those that have no notes', async () => {
      const [noted, other, silent] = [freshFeed(), freshFeed(), freshFeed()]
      await board().note(noted, { heartbeatAt: utcMs(5) })
      await board().note(other, { heartbeatAt: utcMs(6) })
      const liveness = await board().read([noted, silent])
      expect([...liveness.keys()]).toEqual([noted])
      expect(liveness.get(noted)?.heartbeatAt).toBe(5)
      expect(await board().read([])).toEqual(new Map())
    })

    test.for(['closed', 'killed'] as const)(
      'a forgotten feed has no notes, also after the board is %s, and then accepts earlier notes',
      async (how) => {
        const [feed, other] = [freshFeed(), freshFeed()]
        const first = await open()
        const later = { receivedAt: utcMs(9), newestBar: feedSeconds(120) }
        for (const each of [feed, other]) await first.stores.board.note(each, later)
        const before = await first.reopen('closed')
        await before.stores.board.forget(feed)
        expect([...(await before.stores.board.read([feed, other])).keys()]).toEqual([other])
        await before.clock.advance(1_000)
        const after = await before.reopen(how)
        expect([...(await after.stores.board.read([feed, other])).keys()]).toEqual([other])
        await after.stores.board.note(feed, { newestBar: feedSeconds(60) })
        const liveness = (await after.stores.board.read([feed])).get(feed)
        expect(liveness?.newestBar).toBe(60)
        expect(liveness?.receivedAt).toBeUndefined()
        await after.close()
      },
    )

    test('ping succeeds on an available board', async () => {
      await expect(board().ping()).resolves.toBeUndefined()
    })

    test.for(['closed', 'killed'] as const)(
      'notes older than a second survive when the board is %s',
      async (how) => {
        const feed = freshFeed()
        const before = await open()
        const liveness = { receivedAt: utcMs(1_767_000_000_000), newestBar: feedSeconds(-60) }
        await before.stores.board.note(feed, liveness)
        await before.clock.advance(1_000)
        const after = await before.reopen(how)
        expect((await after.stores.board.read([feed])).get(feed)).toMatchObject(liveness)
        await after.stores.board.note(feed, {
          receivedAt: utcMs(liveness.receivedAt - 1),
          newestTick: feedSeconds(7),
        })
        const closed = await after.reopen('closed')
        expect((await closed.stores.board.read([feed])).get(feed)).toMatchObject({
          ...liveness,
          newestTick: 7,
        })
        await closed.close()
      },
    )
  })
}

const fields = ['receivedAt', 'newestBar', 'heartbeatAt', 'newestTick'] as const
const anyTime = fc.option(fc.integer({ min: -10, max: 10 }), { nil: undefined })
const anyLiveness = fc.record({
  receivedAt: anyTime,
  newestBar: anyTime,
  heartbeatAt: anyTime,
  newestTick: anyTime,
}) as fc.Arbitrary<FeedLiveness>
