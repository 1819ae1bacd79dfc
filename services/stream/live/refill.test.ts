import { describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  a,
  applied,
  b,
  faults,
  fixture,
  lose,
  losing,
  subscribed,
  useLossyStream,
} from '../../../test/support/fixtures/lossy-stream-fixture.ts'
import {
  feedBody,
  gapsOf,
  live,
  minutesOf,
  openStreamFixture,
  symbolBody,
  timeOf,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { BarStore } from '../../ports/bars.ts'
import { queuedMsMax, refillBarsMax } from './hole.ts'
import { lostMs, lostMsMax } from './lost-positions.ts'

useLossyStream()

describe('when the bus loses an event', () => {
  test('missing bars are read from the store and sent in order, before newer bars', async () => {
    const socket = await subscribed(a, b)
    await fixture.publish([a, b], 1)
    await lose(() => fixture.publish([a], 2))
    await lose(() => fixture.publish([a, b], 3))
    const position = await fixture.publish([a], 4)
    await fixture.publish([a, b], 5)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([1])
    await fixture.store(a, [1, 2, 3, 4])
    await fixture.store(b, [1, 3])
    await applied(position)
    await until('the last bars', () => minutesOf(socket, a).includes(5) && minutesOf(socket, b).includes(5))
    expect(minutesOf(socket, a)).toEqual([1, 2, 3, 4, 5])
    expect(minutesOf(socket, b)).toEqual([1, 3, 5])
    expect(gapsOf(socket)).toEqual([])
    await fixture.publish([a], 6)
    await socket.settled()
    expect(minutesOf(socket, a).at(-1)).toBe(6)
  })

  test('a pushed bar that neither store nor memory shows is named in a GAP frame to a client that resumes before it', async () => {
    await fixture.store(a, [1])
    await fixture.publish([a], 2)
    await lose(() => fixture.publish([b], 2))
    await applied(await fixture.publish([b], 3))
    const socket = await subscribed()
    socket.send({ action: 'subscribe', symbols: [a], since: timeOf(1) })
    await until('the gap', () => gapsOf(socket).length === 1)
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a, after: timeOf(1) }] }])
    await fixture.publish([a], 3)
    await until('the next bar', () => minutesOf(socket, a).length === 1)
    expect(minutesOf(socket, a)).toEqual([3])
    expect(gapsOf(socket)).toHaveLength(1)
  })

  test('bars that cannot be read are named in a GAP frame, and live bars continue', async () => {
    const socket = await subscribed(a, b)
    const other = await subscribed(b)
    await fixture.publish([a, b], 1)
    await lose(() => fixture.publish([a, b], 2))
    faults.away = true
    const failures = await fixture.metric('fxd_stream_refill_failures_total')
    await applied(await fixture.publish([a], 3))
    await until(
      'both reads',
      async () => (await fixture.metric('fxd_stream_refill_failures_total')) > failures + 1,
    )
    await fixture.clock.advance(queuedMsMax)
    await until('the next bar', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([1, 3])
    expect(gapsOf(socket)).toEqual([
      {
        type: 'error',
        code: 'GAP',
        message: expect.any(String) as string,
        gaps: [
          { symbol: a, after: timeOf(1) },
          { symbol: b, after: timeOf(1) },
        ],
      },
    ])
    const types = socket.messages.map(({ type }) => type)
    expect(types.lastIndexOf('error')).toBeLessThan(types.lastIndexOf('bar'))
    expect(gapsOf(other)).toMatchObject([{ gaps: [{ symbol: b, after: timeOf(1) }] }])
  })

  test('a failed read of the store is retried', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    await lose(() => fixture.publish([a], 2))
    await fixture.store(a, [1, 2, 3])
    faults.away = true
    const failures = await fixture.metric('fxd_stream_refill_failures_total')
    await applied(await fixture.publish([a], 3))
    await until('a read', async () => (await fixture.metric('fxd_stream_refill_failures_total')) > failures)
    faults.away = false
    await fixture.clock.advance(1_000)
    await until('the bars', () => minutesOf(socket, a).length === 3)
    expect(gapsOf(socket)).toEqual([])
  })

  test('while no bar is queued, a GAP frame is sent only after the time of a takeover', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    await lose(() => fixture.publish([a], 2))
    // A symbol without a subscriber.
    await applied(0)
    await fixture.clock.advance(lostMs - 1)
    await socket.settled()
    expect(gapsOf(socket)).toEqual([])
    await fixture.clock.advance(1)
    await until('the gap', () => gapsOf(socket).length === 1)
  })

  test('a symbol with bars stored before this process started is filled from there, with or without live bars', async () => {
    let reads = 0
    const counted = (bars: BarStore): BarStore => ({
      ...bars,
      lastTimes: async (feed) => bars.lastTimes(feed).finally(() => (reads += 1)),
    })
    const own = await openStreamFixture({
      change: ({ bus, bars }) => ({ bus: losing(bus), bars: counted(bars) }),
      unloaded: true,
    })
    await own.store(a, [1])
    await own.change(feedBody(zero), symbolBody(zero, a.slice(zero.length + 1)))
    await until('the feed', () => reads === 1)
    const { secret: key } = await own.issue()
    const socket = await own.connect(key)
    await socket.subscribe([a])
    await lose(() => own.publish([a], 2))
    const position = await own.publish([a], 3)
    await own.store(a, [2, 3])
    await own.stores.bus.publish({ type: 'applied', feed: zero, position }, 1)
    await until('the bars', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([2, 3])
    expect(gapsOf(socket)).toEqual([])
    socket.raw.terminate()
    await own.close()
  })

  test('the GAP frame of a symbol without any known bar has no time', async () => {
    const socket = await subscribed(a)
    await lose(() => fixture.publish([a], 1))
    await applied(await fixture.publish([a], 2))
    await until('the bar', () => minutesOf(socket, a).length === 1)
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a }] }])
    expect(JSON.stringify(gapsOf(socket))).not.toContain('after"')
  })

  test('a GAP frame is sent if the store does not show the lost bars in time', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    await lose(() => fixture.publish([a], 2))
    await fixture.publish([a], 3)
    await fixture.clock.advance(queuedMsMax)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([1, 3])
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a, after: timeOf(1) }] }])
  })

  test('a hole longer than the maximum is named in a GAP frame, not pushed', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    await lose(() => fixture.publish([a], 2))
    await fixture.store(
      a,
      Array.from({ length: refillBarsMax + 1 }, (_, i) => i + 2),
    )
    await applied(await fixture.publish([a], refillBarsMax + 10))
    await until('the bar', () => minutesOf(socket, a).length === 2)
    expect(gapsOf(socket)).toHaveLength(1)
  })

  test('repeated losses do not delay queued bars longer than one loss', async () => {
    const socket = await subscribed(a, b)
    await fixture.publish([a, b], 1)
    faults.away = true
    await lose(() => fixture.publish([a], 2))
    await fixture.publish([a], 3)
    for (const minute of [4, 6, 8, 10]) {
      await fixture.clock.advance(queuedMsMax / 4 - 1)
      await lose(() => fixture.publish([a], minute))
      // Two losses without a bar between them need one GAP frame.
      await applied(0)
      await lose(() => fixture.publish([b], minute))
      await fixture.publish([a], minute + 1)
    }
    await socket.settled()
    expect(gapsOf(socket)).toEqual([])
    await fixture.clock.advance(4)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([1, 3, 5, 7, 9, 11])
    // One GAP frame for each loss, before the bar that follows it. A symbol without such a bar is named once.
    const gaps = [1, 3, 5, 7, 9].map((minute) => [{ symbol: a, after: timeOf(minute) }])
    gaps[0]?.push({ symbol: b, after: timeOf(1) })
    expect(gapsOf(socket)).toMatchObject(gaps.map((each) => ({ gaps: each })))
  })

  test('a bar that is queued during a refill waits as long as any other when another loss follows it', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    faults.away = true
    const lost = await lose(() => fixture.publish([a], 2))
    // The next event shows a loss.
    await applied(0)
    await socket.settled()
    await fixture.clock.advance(lostMs - 2_000)
    await applied(lost)
    await socket.settled()
    await fixture.clock.advance(1_000)
    await fixture.publish([a], 3)
    await lose(() => fixture.publish([a], 4))
    await applied(0)
    await socket.settled()
    await fixture.clock.advance(queuedMsMax - 100)
    await socket.settled()
    expect([minutesOf(socket, a), gapsOf(socket)]).toEqual([[1], []])
    await fixture.clock.advance(100)
    await until('a gap for each loss', () => gapsOf(socket).length === 2)
    expect(minutesOf(socket, a)).toEqual([1, 3])
  })

  test('continuous losses end in a GAP frame, although no bar is queued', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    for (let ms = 0; ms < lostMsMax; ms += lostMs / 2) {
      await lose(() => fixture.publish([a], 2))
      // A symbol without a subscriber.
      await applied(0)
      await socket.settled()
      expect(gapsOf(socket)).toEqual([])
      await fixture.clock.advance(lostMs / 2)
    }
    await until('the gap', () => gapsOf(socket).length === 1)
  })

  test('a loss during a refill restarts it', async () => {
    const socket = await subscribed(a)
    await fixture.publish([a], 1)
    await lose(() => fixture.publish([a], 2))
    const first = await fixture.publish([a], 3)
    await lose(() => fixture.publish([a], 4))
    const second = await fixture.publish([a], 5)
    await fixture.store(a, [1, 2, 3])
    await applied(first)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([1])
    await fixture.store(a, [4, 5])
    await applied(second)
    await until('the last bar', () => minutesOf(socket, a).length === 5)
    expect(gapsOf(socket)).toEqual([])
  })

  test('a loss of a feed without subscribers starts no refill, and subscribers of other feeds see nothing of it', async () => {
    const socket = await subscribed(compoundKey(live, 'SYM0'))
    await fixture.publish([compoundKey(live, 'SYM0')], 1, live)
    await lose(() => fixture.publish([a], 1))
    await fixture.publish([a], 2)
    const late = await subscribed(a)
    await fixture.publish([a], 3)
    await late.settled()
    expect(minutesOf(late, a)).toEqual([3])
    await fixture.clock.advance(queuedMsMax)
    await socket.settled()
    expect([...gapsOf(socket), ...gapsOf(late)]).toEqual([])
  })

  test('a socket that is closed during a refill gets a GAP frame first', async () => {
    const own = await openStreamFixture({ change: ({ bus }) => ({ bus: losing(bus) }) })
    const key = await own.issue()
    const socket = await own.connect(key.secret)
    await socket.subscribe([a])
    await own.publish([a], 1)
    await lose(() => own.publish([a], 2))
    await own.publish([a], 3)
    await own.stream.drain()
    expect((await socket.closed).code).toBe(1012)
    expect(socket.messages.at(-1)).toMatchObject({ code: 'GAP', gaps: [{ symbol: a, after: timeOf(1) }] })
    await own.close()
  })
})
