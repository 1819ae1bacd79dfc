import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import {
  feedBody,
  live,
  minuteBar,
  openStreamFixture,
  type StreamFixture,
  symbolBody,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { type CompoundKey, compoundKey, feedOf, parseCompoundKey } from '../../core/feeds/compound-key.ts'

let fixture: StreamFixture
let next = 0
/** Symbols that no other test uses. */
let [a, b] = [compoundKey(zero, 'SYM0'), compoundKey(zero, 'SYM1')]
beforeAll(async () => {
  fixture = await openStreamFixture({
    start: minuteBar(20).time * 1000,
    change: ({ bars }) => ({
      bars: {
        ...bars,
        read: (query) => storeAnswers.then(() => bars.read(query)),
        lastTimes: (...args) => (lastTimes = bars.lastTimes(...args)),
      },
    }),
  })
})
/** The last read of the newest stored times. */
let lastTimes: Promise<unknown>
/** Reads of the store wait for it. */
let storeAnswers: Promise<void>
beforeEach(() => {
  storeAnswers = Promise.resolve()
  ;[a, b] = [compoundKey(zero, `SYM${next++}`), compoundKey(zero, `SYM${next++}`)]
})
const sockets: StreamSocket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.raw.terminate()
})
afterAll(() => fixture.close())

const change = (symbol: CompoundKey, hidden: boolean) =>
  fixture.change(symbolBody(feedOf(symbol), parseCompoundKey(symbol)?.name ?? '', hidden))
const leave = (symbol: CompoundKey) => change(symbol, true)
const comeBack = (symbol: CompoundKey) => change(symbol, false)

async function connected(wsSymbols = 500) {
  const limits = { rpm: 600, rpd: 1_000, wsConnections: 10, wsSymbols }
  const key = await fixture.issue({ feeds: [zero, live], limits })
  const socket = await fixture.connect(key.secret)
  sockets.push(socket)
  return { ...key, socket }
}
/** All messages to the socket except the first one, `connected`. */
async function sent(socket: StreamSocket) {
  await socket.settled()
  return socket.messages.filter(({ type }) => type !== 'connected' && type !== 'pong')
}
const afterAnswer = async (socket: StreamSocket) => (await sent(socket)).slice(1)
const gap = (...gaps: object[]) => ({
  type: 'error',
  code: 'GAP',
  message: expect.any(String) as string,
  gaps,
})
const bar = (symbol: CompoundKey, minute: number) => {
  const { revision: _, ...shown } = minuteBar(minute)
  return { type: 'bar', symbol, bar: shown }
}

/** Hides the feed, does `meanwhile`, and shows the feed again. */
async function removeAndReturn(meanwhile?: () => Promise<unknown>) {
  const shown = feedBody(live)
  if (shown.kind === 'feed') await fixture.change({ ...shown, body: { ...shown.body, hidden: true } })
  await meanwhile?.()
  await fixture.change(shown)
  await lastTimes
}

describe('a subscription to a symbol that left the registry and returns', () => {
  test('stays, and its bars go on after a GAP frame for the missed ones, each time', async () => {
    const { socket } = await connected()
    await socket.subscribe([a, b])
    const wanted: object[] = []
    for (const minute of [1, 5]) {
      await fixture.publish([a], minute)
      await leave(a)
      await comeBack(a)
      await fixture.publish([a], minute + 2)
      wanted.push(bar(a, minute), gap({ symbol: a, after: minuteBar(minute).time }), bar(a, minute + 2))
    }
    await fixture.publish([b], 9)
    expect(await afterAnswer(socket)).toEqual([...wanted, bar(b, 9)])
    expect(await fixture.metric('fxd_stream_gaps_total{cause="returned"}')).toBe(2)
  })

  test('gets a GAP frame before a bar that comes before the registry shows its symbol', async () => {
    const { socket } = await connected()
    await socket.subscribe([a])
    await fixture.publish([a], 1)
    await leave(a)
    await fixture.publish([a], 5)
    await comeBack(a)
    await fixture.publish([a], 6)
    const passed = (minute: number) => gap({ symbol: a, after: minuteBar(minute).time })
    expect(await afterAnswer(socket)).toEqual([bar(a, 1), passed(1), bar(a, 5), passed(5), bar(a, 6)])
  })

  test('gets a GAP frame for the unsent bars of its replay, then live bars', async () => {
    const { socket } = await connected()
    await fixture.store(a, [1, 2, 3])
    await fixture.publish([a], 3)
    const stall = Promise.withResolvers<void>()
    storeAnswers = stall.promise
    socket.send({ action: 'subscribe', symbols: [a], since: minuteBar(1).time })
    await socket.next('subscribed')
    await leave(a)
    await comeBack(a)
    stall.resolve()
    await socket.next('error')
    await fixture.publish([a], 4)
    const unsent = gap({ symbol: a, after: minuteBar(1).time })
    expect(await afterAnswer(socket)).toEqual([unsent, bar(a, 4)])
  })

  test('gets a GAP frame and the next bar if it waited for its first live bar after a replay', async () => {
    const { socket } = await connected()
    await fixture.store(a, [1, 2])
    socket.send({ action: 'subscribe', symbols: [a], since: minuteBar(1).time })
    await socket.next('bar')
    await expect.poll(() => fixture.metric('fxd_stream_replays_caught')).toBe(1)
    // The bus is behind the store, and its frame is not written yet.
    const other = (await connected()).socket
    await other.subscribe([a])
    fixture.turns.hold()
    await fixture.publish([a], 2)
    await leave(a)
    await comeBack(a)
    fixture.turns.release()
    await fixture.publish([a], 4)
    const passed = gap({ symbol: a, after: minuteBar(2).time })
    expect(await afterAnswer(socket)).toEqual([bar(a, 2), passed, bar(a, 4)])
    expect(await afterAnswer(other)).toEqual([bar(a, 2), passed, bar(a, 4)])
    expect(await fixture.metric('fxd_stream_replays_caught')).toBe(0)
  })

  test('is looked up once per change of the registry, for any number of sockets', async () => {
    const { secret, socket } = await connected()
    const all = [socket, await fixture.connect(secret), await fixture.connect(secret)]
    sockets.push(...all)
    for (const each of all) await each.subscribe([a])
    await leave(a)
    const asked = vi.spyOn(fixture.registry.view(), 'symbol')
    await leave(b)
    expect(asked.mock.calls.filter(([symbol]) => symbol === a)).toHaveLength(1)
    asked.mockRestore()
    await comeBack(a)
    for (const each of all) expect((await afterAnswer(each)).slice(-1)).toEqual([gap({ symbol: a })])
  })

  test('goes on when the symbol returns with its feed', async () => {
    const { socket } = await connected()
    const foreign = compoundKey(live, 'SYM0')
    await socket.subscribe([foreign])
    await fixture.publish([foreign], 1, live)
    await removeAndReturn()
    await fixture.publish([foreign], 2, live)
    const passed = gap({ symbol: foreign, after: minuteBar(1).time })
    expect(await afterAnswer(socket)).toEqual([bar(foreign, 1), passed, bar(foreign, 2)])
  })

  test('gets a GAP frame from the newest stored bar if its symbol had no live bar and returns with its feed', async () => {
    const foreign = compoundKey(live, 'SYM1')
    await fixture.store(foreign, [3], live)
    await removeAndReturn()
    const { socket } = await connected()
    await socket.subscribe([foreign])
    await removeAndReturn()
    expect(await afterAnswer(socket)).toEqual([gap({ symbol: foreign, after: minuteBar(3).time })])
  })

  test('gets no bar again that was pushed before its feed was removed, unless the feed was purged', async () => {
    const { socket } = await connected()
    const foreign = compoundKey(live, 'SYM3')
    await socket.subscribe([foreign])
    await fixture.publish([foreign], 14, live)
    await fixture.store(foreign, [14], live)
    await fixture.publish([foreign], 15, live)
    await removeAndReturn()
    await fixture.publish([foreign], 15, live)
    await fixture.publish([foreign], 16, live)
    const passed = gap({ symbol: foreign, after: minuteBar(15).time })
    const pushed = [bar(foreign, 14), bar(foreign, 15), passed, bar(foreign, 16)]
    expect(await afterAnswer(socket)).toEqual(pushed)
    await removeAndReturn(() => fixture.stores.bars.purge(live))
    await fixture.publish([foreign], 15, live)
    const purged = gap({ symbol: foreign, after: minuteBar(16).time })
    expect(await afterAnswer(socket)).toEqual([...pushed, purged, bar(foreign, 15)])
  })

  test('gets the bars and minutes of an earlier clock if its feed was purged meanwhile', async () => {
    const { socket } = await connected()
    const foreign = compoundKey(live, 'SYM2')
    socket.send({ action: 'subscribe', symbols: [foreign], markers: true })
    await socket.next('subscribed')
    const minute = async (of: number) => {
      await fixture.publish([foreign], of, live)
      const { time } = minuteBar(of)
      await fixture.stores.bus.publish({ type: 'minutes', feed: live, from: time, to: time }, 1)
    }
    const shownMinute = (of: number) => ({ type: 'minute', feed: live, time: minuteBar(of).time })
    await minute(15)
    await removeAndReturn(() => fixture.stores.bars.purge(live))
    await minute(5)
    const passed = gap({ symbol: foreign, after: minuteBar(15).time })
    expect(await afterAnswer(socket)).toEqual([
      bar(foreign, 15),
      shownMinute(15),
      passed,
      bar(foreign, 5),
      shownMinute(5),
    ])
  })

  test('keeps its markers', async () => {
    const { socket } = await connected()
    socket.send({ action: 'subscribe', symbols: [a], markers: true })
    await socket.next('subscribed')
    await fixture.publish([a], 1)
    await leave(a)
    await comeBack(a)
    const { time } = minuteBar(11)
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: time, to: time }, 1)
    expect((await sent(socket)).at(-1)).toEqual({ type: 'minute', feed: zero, time })
  })
})

describe('while a symbol is absent', () => {
  test('its subscription counts, can be repeated, and is new for no other socket', async () => {
    const { socket, secret } = await connected(1)
    const other = await fixture.connect(secret)
    sockets.push(other)
    await socket.subscribe([a])
    await leave(a)
    expect(await socket.subscribe([a, b])).toMatchObject({ symbols: [a], rejected: [b] })
    expect(await other.subscribe([a])).toMatchObject({ symbols: [], rejected: [a] })
  })

  test('a client can unsubscribe from it, and then gets nothing when it returns', async () => {
    const { socket } = await connected()
    await socket.subscribe([a, b])
    await leave(a)
    await leave(b)
    socket.send({ action: 'unsubscribe', symbols: [a] })
    await socket.settled()
    await comeBack(a)
    await comeBack(b)
    expect(await afterAnswer(socket)).toEqual([{ type: 'unsubscribed', symbols: [a] }, gap({ symbol: b })])
  })

  test('a withdrawn grant ends its subscription, which the client is told, even if it is granted again', async () => {
    const { socket, update } = await connected()
    await socket.subscribe([a])
    await leave(a)
    await update({ feeds: [live] })
    await update({ feeds: [zero, live] })
    await comeBack(a)
    const lost = { type: 'unsubscribed', symbols: [a], reason: 'SYMBOL_NOT_PERMITTED' }
    expect(await afterAnswer(socket)).toEqual([lost])
  })
})
