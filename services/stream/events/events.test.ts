import { describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  a,
  ask,
  b,
  fixture,
  foreign,
  opened,
  store,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import { live, tadil, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { type FeedSeconds, toSeconds, utcMs } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'

useResumableStream()

const framesOf = (socket: StreamSocket, type: string) =>
  socket.messages.filter((message) => message.type === type)
const nowSeconds = (): number => toSeconds(fixture.clock.utcMs())
/** A live bar of the feed was received this many seconds ago. */
const received = (feed: FeedKey, secondsAgo = 0) =>
  fixture.stores.board.note(feed, { receivedAt: utcMs(fixture.clock.utcMs() - secondsAgo * 1_000) })
const advanceUntil = async (what: string, isTrue: () => boolean): Promise<void> => {
  await until(what, async () => {
    await fixture.clock.advance(1_000)
    return isTrue()
  })
}

describe('the event `feed`', () => {
  test('comes after the answer, and within 5 s of a change, to sockets that asked for it only', async () => {
    await received(zero, 280)
    const [socket, other] = [await opened(), await opened()]
    await ask(socket, { symbols: [a], events: ['feed'] })
    await ask(other, { symbols: [a], events: ['revised'] })
    const since = nowSeconds()
    expect(await socket.next('feed')).toEqual({
      type: 'feed',
      feed: zero,
      status: 'live',
      changed_at: since,
      liveness_source: 'candle',
    })
    await advanceUntil('the change', () => framesOf(socket, 'feed').length === 2)
    const changed = framesOf(socket, 'feed')[1]
    expect(changed).toMatchObject({ status: 'stale', liveness_source: 'candle' })
    expect(Number(changed?.changed_at) - since).toBeGreaterThanOrEqual(20)
    expect(Number(changed?.changed_at) - since).toBeLessThanOrEqual(25)
    await other.settled()
    expect(framesOf(other, 'feed')).toEqual([])
  })

  test('comes again with the same time after another subscribe, for the feeds of its symbols', async () => {
    await Promise.all([received(zero), received(live)])
    const [first, second] = [await opened(), await opened()]
    await ask(first, { symbols: [a], events: ['feed'] })
    await advanceUntil('the live feed', () => framesOf(first, 'feed').at(-1)?.['status'] === 'live')
    const changed_at = framesOf(first, 'feed').at(-1)?.['changed_at']
    await fixture.clock.advance(10_000)
    await ask(second, { symbols: [a, foreign], events: ['feed'] })
    await until('both feeds', () => framesOf(second, 'feed').length === 2)
    expect(framesOf(second, 'feed')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ feed: zero, status: 'live', changed_at }),
        expect.objectContaining({ feed: live, status: 'live' }),
      ]),
    )
  })

  test('comes for feeds with live bars while the store read of another feed waits', async () => {
    await received(zero)
    const silent = compoundKey(tadil, 'SYM0')
    const gate = Promise.withResolvers<void>()
    store.newestGate = gate.promise
    const [first, second] = [await opened(), await opened()]
    await ask(first, { symbols: [a, silent], events: ['feed'] })
    expect(await first.next('feed')).toMatchObject({ feed: zero, status: 'live' })
    await ask(second, { symbols: [a], events: ['feed'] })
    expect(await second.next('feed')).toMatchObject({ feed: zero, status: 'live' })
    await first.settled()
    expect(framesOf(first, 'feed')).toHaveLength(1)
    gate.resolve()
    expect(await first.next('feed')).toMatchObject({
      feed: tadil,
      status: 'offline',
      liveness_source: 'none',
    })
  })

  test('comes no more after `events` without it, or without a symbol of the feed', async () => {
    await Promise.all([received(zero), received(live)])
    const [silenced, left, still] = [await opened(), await opened(), await opened()]
    for (const socket of [silenced, left, still]) {
      await ask(socket, { symbols: [foreign], events: ['feed'] })
      await socket.next('feed')
    }
    await ask(silenced, { symbols: [foreign], events: [] })
    left.send({ action: 'unsubscribe', symbols: [foreign] })
    await left.next('unsubscribed')
    await fixture.stores.board.note(live, { heartbeatAt: fixture.clock.utcMs() })
    await advanceUntil('the change', () => framesOf(still, 'feed').length === 2)
    expect(framesOf(still, 'feed')[1]).toMatchObject({ status: 'live', liveness_source: 'heartbeat' })
    await Promise.all([silenced.settled(), left.settled()])
    expect([framesOf(silenced, 'feed').length, framesOf(left, 'feed').length]).toEqual([1, 1])
  })
})

describe('the event `revised`', () => {
  const revise = (symbol: CompoundKey, from: FeedSeconds, to: FeedSeconds, resolution: Resolution = '1') =>
    fixture.stores.bus.publish({ type: 'revised', series: { feed: zero, symbol, resolution }, from, to }, 1)

  test('joins the changes of a second by series, in any resolution, for subscribed symbols only', async () => {
    const [socket, other] = [await opened(), await opened()]
    await ask(socket, { symbols: [a], events: ['revised'] })
    await ask(other, { symbols: [a] })
    await revise(a, timeOf(5), timeOf(6))
    await revise(a, timeOf(2), timeOf(3))
    await revise(a, timeOf(0), timeOf(0), '60')
    await revise(b, timeOf(1), timeOf(1))
    await advanceUntil('the frames', () => framesOf(socket, 'revised').length >= 2)
    await revise(a, timeOf(9), timeOf(9))
    await advanceUntil('the next second', () => framesOf(socket, 'revised').length >= 3)
    await other.settled()
    expect(framesOf(socket, 'revised')).toEqual([
      { type: 'revised', symbol: a, resolution: '1', from: timeOf(2), to: timeOf(6) },
      { type: 'revised', symbol: a, resolution: '60', from: timeOf(0), to: timeOf(0) },
      { type: 'revised', symbol: a, resolution: '1', from: timeOf(9), to: timeOf(9) },
    ])
    expect(framesOf(other, 'revised')).toEqual([])
  })

  test('comes at most once a second for one series', async () => {
    const socket = await opened()
    await ask(socket, { symbols: [a], events: ['feed', 'revised'] })
    const beganMs = fixture.clock.utcMs()
    for (let minute = 0; minute < 40; minute++) {
      await revise(a, timeOf(minute), timeOf(minute))
      await fixture.clock.advance(250)
    }
    await until('the last change', () => framesOf(socket, 'revised').at(-1)?.['to'] === timeOf(39))
    const seconds = (fixture.clock.utcMs() - beganMs) / 1_000
    expect(framesOf(socket, 'revised').length).toBeLessThanOrEqual(seconds + 1)
  })
})

test.each(['"feed"', '["feeds"]', '["feed","feed","feed"]', 'null', '[1]'])(
  'the `events` value %s is refused',
  async (events) => {
    const socket = await opened()
    socket.send(`{"action":"subscribe","symbols":["${a}"],"events":${events}}`)
    expect(await socket.next('error')).toMatchObject({
      code: 'BAD_MESSAGE',
      message: expect.stringMatching(/^events/) as string,
    })
  },
)
