import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { FeedKey } from '../../../services/core/feeds/compound-key.ts'
import { type BusEvent, type Delivered, feedOfEvent } from '../../../services/ports/bus.ts'
import { type Open, openedOnce } from './opened.ts'
import { freshFeed, minuteBar, seriesOf } from './sample-bars.ts'

/** Contract of all buses; see services/ports/bus.ts. */
export function describeBus(name: string, open: Open<'bus'>): void {
  describe(`the bus in ${name}`, () => {
    const opened = openedOnce(open)
    const bus = () => opened().stores.bus
    const until = async (condition: () => boolean): Promise<void> => {
      await expect.poll(condition).toBe(true)
    }
    const follow = (deliver: (delivered: Delivered) => void) =>
      bus().follow({ deliver, lost: () => expect.unreachable('the bus reported a loss') })
    const collect = () => {
      const got: Delivered[] = []
      return { got, stop: follow((delivered) => void got.push(delivered)) }
    }

    test('every follower gets every event of a feed once, in the order of publishing, with consecutive positions', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(5), { minLength: 1, maxLength: 40 }), async (kinds) => {
          const followers = [collect(), collect()]
          const feeds = [freshFeed(), freshFeed()] as const
          const events = kinds.map((kind, i) => someEvent(feeds[i % 2]!, kind, i))
          const outcomes = await Promise.all(events.map((event) => bus().publish(event, 1)))
          await until(() => followers.every(({ got }) => got.length >= events.length))
          for (const { got, stop } of followers) {
            stop()
            for (const feed of [undefined, ...feeds]) {
              const isOfIt = (event: BusEvent) => feedOfEvent(event) === feed
              const ofIt = got.filter(({ event }) => isOfIt(event))
              expect(ofIt.map(({ event }) => event)).toEqual(events.filter(isOfIt))
              const positions = ofIt.map(({ position }) => position)
              expect(positions).toEqual(positions.map((_, i) => (positions[0] as number) + i))
              expect(positions.map((position) => ({ outcome: 'published', position }))).toEqual(
                outcomes.filter((_, i) => isOfIt(events[i] as BusEvent)),
              )
            }
          }
        }),
      )
    })

    test('an event is delivered in a later turn of the event loop, never inside publish', async () => {
      const { got, stop } = collect()
      const published = bus().publish(someEvent(freshFeed(), 0, 0), 1)
      expect(got).toEqual([])
      await Promise.resolve()
      expect(got).toEqual([])
      await published
      await until(() => got.length === 1)
      stop()
    })

    test('a follower gets no events from before its start or after its stop', async () => {
      const feed = freshFeed()
      const first = collect()
      const early = bus().publish(someEvent(feed, 2, 1), 1)
      const second = collect()
      await bus().publish(someEvent(feed, 2, 2), 1)
      await early
      await until(() => first.got.length === 2 && second.got.length === 1)
      expect(second.got).toEqual(first.got.slice(1))
      first.stop()
      await bus().publish(someEvent(feed, 2, 3), 1)
      await until(() => second.got.length === 2)
      expect(first.got).toHaveLength(2)
      second.stop()
    })

    test('events that are published during a delivery are delivered after it', async () => {
      const feed = freshFeed()
      const { got, stop } = collect()
      let answered = false
      const stopAnswering = follow(() => {
        if (!answered) void bus().publish(someEvent(feed, 2, 2), 1)
        answered = true
      })
      await Promise.all([bus().publish(someEvent(feed, 2, 1), 1), bus().publish(someEvent(feed, 2, 11), 1)])
      await until(() => got.length === 3)
      stopAnswering()
      stop()
      expect(got.map(({ event }) => event)).toEqual([1, 11, 2].map((i) => someEvent(feed, 2, i)))
    })

    test('a follower that wants the registry gets no events of feeds, whether another follower wants them or not', async () => {
      const got: Delivered[] = []
      const follower = { deliver: (delivered: Delivered) => void got.push(delivered), lost: () => undefined }
      const stopRegistry = bus().follow({ ...follower, wants: 'registry' })
      const publishBoth = async (n: number): Promise<void> => {
        await bus().publish(someEvent(freshFeed(), 0, n), 1)
        await bus().publish({ type: 'registry', version: n }, 0)
        await until(() => got.some(({ event }) => event.type === 'registry' && event.version === n))
      }
      await publishBoth(1_001)
      const all = collect()
      await publishBoth(1_002)
      await until(() => all.got.some(({ event }) => event.type !== 'registry'))
      expect(new Set(got.map(({ event }) => event.type))).toEqual(new Set(['registry']))
      stopRegistry()
      all.stop()
    })

    test('a follower that throws does not affect other followers', async () => {
      const stopFailing = follow(() => {
        throw new Error('a defect')
      })
      const { got, stop } = collect()
      const event = someEvent(freshFeed(), 0, 0)
      await bus().publish(event, 1)
      await until(() => got.length === 1)
      stopFailing()
      stop()
      expect(got).toEqual([expect.objectContaining({ event })])
    })

    test('a publisher with a smaller epoch than the newest of the feed is fenced, except for events without an epoch', async () => {
      const [feed, other] = [freshFeed(), freshFeed()]
      const got: Delivered[] = []
      // A new publisher may cause a loss: of events that its predecessor did not publish.
      const follower = { deliver: (delivered: Delivered) => void got.push(delivered), lost: () => undefined }
      const stop = bus().follow(follower)
      await bus().publish(someEvent(feed, 0, 1), 5)
      for (const kind of [0, 2, 4, 5])
        expect(await bus().publish(someEvent(feed, kind, 2), 4)).toEqual({ outcome: 'fenced' })
      expect(await bus().publish(someEvent(other, 0, 3), 1)).toMatchObject({ outcome: 'published' })
      expect(await bus().publish(someEvent(feed, 1, 4), 0)).toMatchObject({ outcome: 'published' })
      expect(await bus().publish(someEvent(feed, 2, 5), 6)).toMatchObject({ outcome: 'published' })
      expect(await bus().publish(someEvent(feed, 0, 6), 5)).toEqual({ outcome: 'fenced' })
      await until(() => got.length === 4)
      const kept = [someEvent(feed, 0, 1), someEvent(feed, 1, 4), someEvent(feed, 2, 5)]
      const [others, own] = [true, false].map((isOther) =>
        got.map(({ event }) => event).filter((event) => (feedOfEvent(event) === other) === isOther),
      )
      expect(own).toEqual(kept)
      expect(others).toEqual([someEvent(other, 0, 3)])
      stop()
    })
  })
}

function someEvent(feed: FeedKey, kind: number, i: number): BusEvent {
  const series = seriesOf('__proto__', '1', feed)
  if (kind === 0)
    return { type: 'bars', feed, bars: [{ symbol: series.symbol, resolution: '1', bar: minuteBar(i) }] }
  if (kind === 1) return { type: 'revised', series, from: feedSeconds(i), to: feedSeconds(i + 60) }
  if (kind === 2) return { type: 'applied', feed, position: i }
  if (kind === 3) return { type: 'registry', version: i }
  return kind === 4
    ? { type: 'settled', feed }
    : { type: 'minutes', feed, from: feedSeconds(i * 60), to: feedSeconds(i * 60 + 120) }
}
