import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StreamSocket } from '../../../../test/acceptance/client/socket.ts'
import {
  feedBody,
  live,
  minuteBar,
  openStreamFixture,
  type StreamFixture,
  symbolBody,
  zero,
} from '../../../../test/support/fixtures/stream-fixture.ts'
import { type CompoundKey, compoundKey, feedOf, parseCompoundKey } from '../../../core/feeds/compound-key.ts'

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
const gone = (...symbols: CompoundKey[]) => ({ type: 'unsubscribed', symbols, reason: 'SYMBOL_NOT_FOUND' })
const returned = (...symbols: CompoundKey[]) => ({
  type: 'subscribed',
  symbols,
  rejected: [],
  reason: 'returned',
})
const bar = (symbol: CompoundKey, minute: number) => {
  const { revision: _, ...shown } = minuteBar(minute)
  return { type: 'bar', symbol, bar: shown }
}

describe('a symbol that left the registry and returns', () => {
  test('is subscribed again after a GAP frame for the missed bars, each time', async () => {
    const { socket } = await connected()
    await socket.subscribe([a, b])
    const wanted: object[] = []
    for (const minute of [1, 5]) {
      await fixture.publish([a], minute)
      await leave(a)
      await fixture.publish([a], minute + 1)
      await comeBack(a)
      await fixture.publish([a], minute + 2)
      const passed = gap({ symbol: a, after: minuteBar(minute).time })
      wanted.push(bar(a, minute), gone(a), passed, returned(a), bar(a, minute + 2))
    }
    await fixture.publish([b], 9)
    expect(await afterAnswer(socket)).toEqual([...wanted, bar(b, 9)])
  })

  test('gets a GAP frame that includes the unsent bars of a replay', async () => {
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
    await fixture.publish([a], 4)
    const unsent = gap({ symbol: a, after: minuteBar(1).time })
    expect(await afterAnswer(socket)).toEqual([gone(a), unsent, returned(a), bar(a, 4)])
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
    for (const each of all) expect((await afterAnswer(each)).slice(-1)).toEqual([returned(a)])
  })

  test('returns with its feed', async () => {
    const { socket } = await connected()
    const foreign = compoundKey(live, 'SYM0')
    await socket.subscribe([foreign])
    await fixture.publish([foreign], 1, live)
    const shown = feedBody(live)
    if (shown.kind === 'feed') await fixture.change({ ...shown, body: { ...shown.body, hidden: true } })
    await fixture.change(shown)
    await fixture.publish([foreign], 2, live)
    const passed = gap({ symbol: foreign, after: minuteBar(1).time })
    expect(await afterAnswer(socket)).toEqual([
      bar(foreign, 1),
      gone(foreign),
      passed,
      returned(foreign),
      bar(foreign, 2),
    ])
  })

  test('gets a GAP frame from its newest stored bar if it had no live bar and returns with its feed', async () => {
    const foreign = compoundKey(live, 'SYM1')
    await fixture.store(foreign, [3], live)
    const shown = feedBody(live)
    const leaveAndReturn = async () => {
      if (shown.kind === 'feed') await fixture.change({ ...shown, body: { ...shown.body, hidden: true } })
      await fixture.change(shown)
      await lastTimes
    }
    await leaveAndReturn()
    const { socket } = await connected()
    await socket.subscribe([foreign])
    await leaveAndReturn()
    const passed = gap({ symbol: foreign, after: minuteBar(3).time })
    expect(await afterAnswer(socket)).toEqual([gone(foreign), passed, returned(foreign)])
  })

  test('returns with its feed, which has an earlier clock now: its bars and minutes follow', async () => {
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
    const shown = feedBody(live)
    if (shown.kind === 'feed') await fixture.change({ ...shown, body: { ...shown.body, hidden: true } })
    await fixture.change(shown)
    await minute(5)
    const passed = gap({ symbol: foreign, after: minuteBar(15).time })
    expect(await afterAnswer(socket)).toEqual([
      bar(foreign, 15),
      shownMinute(15),
      gone(foreign),
      passed,
      returned(foreign),
      bar(foreign, 5),
      shownMinute(5),
    ])
  })

  test('is subscribed with markers again if the client asked for them', async () => {
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

  test('is subscribed without markers if the client ended those of its feed meanwhile', async () => {
    const { socket } = await connected()
    socket.send({ action: 'subscribe', symbols: [a, b], markers: true })
    await socket.next('subscribed')
    await leave(a)
    socket.send({ action: 'subscribe', symbols: [b], markers: false })
    await socket.next('subscribed')
    await comeBack(a)
    const { time } = minuteBar(12)
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: time, to: time }, 1)
    expect((await sent(socket)).at(-1)).toEqual(returned(a))
  })
})

describe('a symbol that returns is not subscribed for a socket', () => {
  test('that unsubscribed meanwhile', async () => {
    const { socket } = await connected()
    await socket.subscribe([a, b])
    await leave(a)
    await leave(b)
    socket.send({ action: 'unsubscribe', symbols: [a] })
    await socket.settled()
    await comeBack(a)
    await comeBack(b)
    const last = (await sent(socket)).slice(-3)
    expect(last).toEqual([{ type: 'unsubscribed', symbols: [a] }, gap({ symbol: b }), returned(b)])
  })

  test('whose key lost the grant meanwhile, which its client is told, even if it was granted again', async () => {
    const { socket, update } = await connected()
    await socket.subscribe([a])
    await leave(a)
    await update({ feeds: [live] })
    await update({ feeds: [zero, live] })
    await comeBack(a)
    const lost = { type: 'unsubscribed', symbols: [a], reason: 'SYMBOL_NOT_PERMITTED' }
    expect(await afterAnswer(socket)).toEqual([gone(a), lost])
  })

  test('that used its symbol limit for other symbols: the symbol that left first is forgotten', async () => {
    const { socket } = await connected(2)
    await socket.subscribe([a, b])
    await leave(a)
    await leave(b)
    const c = compoundKey(live, 'SYM1')
    expect(await socket.subscribe([c])).toMatchObject({ symbols: [c], rejected: [] })
    await comeBack(a)
    await comeBack(b)
    const frames = await sent(socket)
    expect(frames.slice(-2)).toEqual([gap({ symbol: b }), returned(b)])
    expect(frames.filter(({ reason }) => reason === 'returned')).toHaveLength(1)
    expect(await socket.subscribe([a])).toMatchObject({ symbols: [], rejected: [a] })
  })

  test('whose plan allows fewer symbols meanwhile', async () => {
    const { socket, update, record } = await connected(2)
    const c = compoundKey(live, 'SYM1')
    await socket.subscribe([a, c])
    await leave(a)
    await update({ limits: { ...record.limits, wsSymbols: 1 } })
    await comeBack(a)
    expect(await afterAnswer(socket)).toEqual([gone(a)])
  })
})
