import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Message, StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  feedBody,
  live,
  minutesOf,
  openStreamFixture,
  type StreamFixture,
  symbolBody,
  symbolNames,
  tadil,
  timeOf,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { type CompoundKey, compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'

let fixture: StreamFixture
beforeEach(async () => {
  fixture = await openStreamFixture()
})
afterEach(() => fixture.close())

const all = symbolNames.map((name) => compoundKey(zero, name)).sort()
const symbolOf = (name: string, feed: FeedKey = zero) => compoundKey(feed, name)

const keyOf = (wsSymbols: number, feeds: readonly FeedKey[] = [zero]) =>
  fixture.issue({ feeds, limits: { rpm: 1, rpd: 1, wsConnections: 9, wsSymbols } })
async function socketOf(wsSymbols = 500, feeds: readonly FeedKey[] = [zero]) {
  return fixture.connect((await keyOf(wsSymbols, feeds)).secret)
}
async function ask(socket: StreamSocket, more: object): Promise<Message> {
  socket.send({ action: 'subscribe', ...more })
  return socket.next('subscribed')
}
async function leave(socket: StreamSocket, more: object): Promise<Message> {
  socket.send({ action: 'unsubscribe', ...more })
  return socket.next('unsubscribed')
}
const joined = (symbols: readonly CompoundKey[], rejected: readonly CompoundKey[] = []) => ({
  type: 'subscribed',
  symbols,
  rejected,
  reason: 'joined',
  last: true,
})

describe('a subscribe with `feeds`', () => {
  test('names the symbols of its feeds by compound key, and refused feeds, in one last frame', async () => {
    const socket = await socketOf(500, [zero, tadil])
    expect(await ask(socket, { feeds: [tadil, live, 'nonsense', zero, zero] })).toEqual({
      type: 'subscribed',
      symbols: [...all, ...symbolNames.map((name) => symbolOf(name, tadil)).sort()],
      rejected: [],
      rejected_feeds: [live, 'nonsense'],
      last: true,
    })
    await fixture.publish([all[0]!, all[59]!], 1)
    await until('the bars', () => socket.bars().length === 2)
  })

  test('counts behind the symbols of the same message, up to the cap', async () => {
    const socket = await socketOf(3)
    const [last = ''] = all.slice(-1)
    expect(await ask(socket, { symbols: [last, 'A:B:C'], feeds: [zero] })).toMatchObject({
      symbols: [last, ...all.slice(0, 2)],
      rejected: ['A:B:C', ...all.slice(2, -1)],
      rejected_feeds: [],
    })
    await fixture.publish(all, 1)
    await until('the bars', () => socket.bars().length === 3)
    await socket.settled()
    expect(socket.bars()).toHaveLength(3)
  })

  test('names a symbol once that it had before, and replays only what `since` names', async () => {
    const socket = await socketOf()
    const [first, second] = all as [CompoundKey, CompoundKey]
    await ask(socket, { symbols: [first] })
    await fixture.publish([first, second], 1)
    await fixture.publish([first, second], 2)
    const since = { [second]: timeOf(1) }
    const { symbols } = await ask(socket, { symbols: [second], feeds: [zero], since })
    expect(symbols).toEqual([second, first, ...all.slice(2)])
    await until('the replay', () => minutesOf(socket, second).length === 1)
    expect(minutesOf(socket, second)).toEqual([2])
    expect(minutesOf(socket, first)).toEqual([1, 2])
  })

  test('may ask for markers of a feed all of whose symbols are rejected', async () => {
    const socket = await socketOf(1, [zero, live])
    const other = symbolOf('SYM0', live)
    await ask(socket, { symbols: [other] })
    await ask(socket, { feeds: [zero], markers: true })
    await leave(socket, { symbols: [symbolOf('SYM1', live)] })
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: timeOf(1), to: timeOf(1) }, 1)
    expect(await socket.next('minute')).toEqual({ type: 'minute', feed: zero, time: timeOf(1) })
  })

  test.each([
    ['{"action":"subscribe","feeds":"A:B"}', /^feeds is "A:B"; it must be an array of at most 100 feeds\.$/],
    ['{"action":"unsubscribe","feeds":[7]}', /^feeds\[0\] is number 7; it must be a feed, BROKER:ACCOUNT\.$/],
    ['{"action":"subscribe"}', /^symbols is nothing; it must be an array of at most 5000 compound keys\.$/],
    [`{"action":"subscribe","feeds":${JSON.stringify(Array(101).fill('A:B'))}}`, /^feeds is a list of 101/],
  ])('%s is refused', async (text, message) => {
    const socket = await socketOf()
    socket.send(text)
    expect(await socket.next('error')).toMatchObject({
      code: 'BAD_MESSAGE',
      message: expect.stringMatching(message) as string,
    })
  })

  test('with more than 5,000 symbols is answered in several frames, and costs as many messages', async () => {
    const many = Array.from({ length: 6_000 }, (_, n) => `N${String(n).padStart(4, '0')}`)
    await fixture.change(feedBody(live), ...many.map((name) => symbolBody(live, name)))
    const socket = await socketOf(5_500, [live])
    socket.send({ action: 'subscribe', feeds: [live] })
    socket.send({ action: 'ping' })
    await until('both frames', () => socket.frames.length >= 3)
    const [first, second] = socket.messages.slice(1) as [Message, Message]
    const names = [...many, ...symbolNames].map((name) => symbolOf(name, live)).sort()
    expect(first).toEqual({ type: 'subscribed', symbols: names.slice(0, 5_000), rejected: [] })
    expect(second).toEqual({
      type: 'subscribed',
      symbols: names.slice(5_000, 5_500),
      rejected: names.slice(5_500),
      rejected_feeds: [],
      last: true,
    })
    expect(await fixture.metric('fxd_stream_throttled_total')).toBe(1)
  })
})

describe('the symbols of a whole feed', () => {
  test('a new one joins by itself, and one above the cap is rejected', async () => {
    const [socket, other] = [await socketOf(61), await socketOf()]
    await ask(socket, { feeds: [zero] })
    await ask(other, { symbols: all })
    await fixture.change(symbolBody(zero, 'NEW'))
    expect(await socket.next('subscribed')).toEqual(joined([symbolOf('NEW')]))
    await fixture.change(symbolBody(zero, 'NEWER'))
    expect(await socket.next('subscribed')).toEqual(joined([], [symbolOf('NEWER')]))
    await fixture.publish([symbolOf('NEW'), symbolOf('NEWER')], 1)
    await until('the bar', () => socket.bars().length === 1)
    await Promise.all([socket.settled(), other.settled()])
    expect(socket.bars().map(({ symbol }) => symbol)).toEqual([symbolOf('NEW')])
    expect(other.messages.filter(({ type }) => type === 'subscribed')).toHaveLength(1)
  })

  test('one that returns to the registry is neither named nor counted again', async () => {
    const socket = await socketOf()
    await ask(socket, { feeds: [zero] })
    await fixture.hideSymbol(zero, 'SYM5')
    await fixture.change(symbolBody(zero, 'SYM5'))
    await socket.settled()
    expect(socket.messages.filter(({ type }) => type === 'subscribed')).toHaveLength(1)
  })

  test('rejected ones join in order when places become free, and not those that the client left', async () => {
    const socket = await socketOf(3)
    await ask(socket, { feeds: [zero] })
    await leave(socket, { symbols: [all[1], all[4]] })
    await fixture.clock.advance(1_000)
    expect(await socket.next('subscribed')).toEqual(joined([all[3]!]))
    await leave(socket, { symbols: [all[0], all[2]] })
    await fixture.clock.advance(1_000)
    expect(await socket.next('subscribed')).toEqual(joined([all[5]!, all[6]!]))
  })

  test('one that the client subscribes to again within a second keeps its place', async () => {
    const socket = await socketOf(3)
    await ask(socket, { feeds: [zero] })
    await leave(socket, { symbols: [all[1]] })
    await fixture.clock.advance(900)
    await fixture.change(symbolBody(live, 'NEW'))
    expect(await ask(socket, { symbols: [all[1]] })).toMatchObject({ symbols: [all[1]], rejected: [] })
    await fixture.clock.advance(1_000)
    await socket.settled()
    expect(socket.messages.filter(({ reason }) => reason === 'joined')).toEqual([])
  })

  test('a symbol that the client left and asked for in vain joins once a place is free', async () => {
    const socket = await socketOf(3)
    await ask(socket, { feeds: [zero] })
    await leave(socket, { symbols: [all[1]] })
    await fixture.clock.advance(1_000)
    expect(await socket.next('subscribed')).toEqual(joined([all[3]!]))
    expect(await ask(socket, { symbols: [all[1]] })).toMatchObject({ symbols: [], rejected: [all[1]] })
    await leave(socket, { symbols: [all[3]] })
    await fixture.clock.advance(1_000)
    expect(await socket.next('subscribed')).toEqual(joined([all[1]!]))
  })

  test('rejected ones join when the cap of the key is raised', async () => {
    const { secret, record, update } = await keyOf(3)
    const socket = await fixture.connect(secret)
    await ask(socket, { feeds: [zero] })
    await update({ limits: { ...record.limits, wsSymbols: 5 } })
    expect(await socket.next('subscribed')).toEqual(joined(all.slice(3, 5)))
  })

  test('end with the grant of their feed, and those of another feed get their places', async () => {
    const { secret, update } = await keyOf(60, [zero, live])
    const socket = await fixture.connect(secret)
    await ask(socket, { feeds: [zero, live], markers: true })
    await update({ feeds: [live] })
    expect(await socket.next('unsubscribed')).toMatchObject({ reason: 'SYMBOL_NOT_PERMITTED' })
    const others = symbolNames.map((name) => symbolOf(name, live)).sort()
    await fixture.clock.advance(1_000)
    expect(await socket.next('subscribed')).toEqual(joined(others))
    await update({ feeds: [zero, live] })
    await fixture.change(symbolBody(zero, 'NEW'))
    await fixture.stores.bus.publish({ type: 'minutes', feed: zero, from: timeOf(1), to: timeOf(1) }, 1)
    await socket.settled()
    expect(socket.messages.filter(({ type }) => type === 'minute')).toEqual([])
    expect(socket.messages.filter(({ reason }) => reason === 'joined')).toHaveLength(1)
  })

  test('end with `feeds` of an unsubscribe, which names them, and new ones do not join', async () => {
    const socket = await socketOf()
    await ask(socket, { feeds: [zero] })
    expect(await leave(socket, { symbols: [all[7]], feeds: [zero, 'A:B'] })).toEqual({
      type: 'unsubscribed',
      symbols: [all[7], ...all.slice(0, 7), ...all.slice(8)],
      last: true,
    })
    await fixture.change(symbolBody(zero, 'NEW'))
    await fixture.publish(all, 1)
    await socket.settled()
    expect(socket.bars()).toEqual([])
    expect(socket.messages.filter(({ type }) => type === 'subscribed')).toHaveLength(1)
  })

  test('a feed that is subscribed to again has the symbols that the client had left', async () => {
    const socket = await socketOf()
    await ask(socket, { feeds: [zero] })
    await leave(socket, { symbols: [all[3]] })
    expect((await ask(socket, { feeds: [zero] })).symbols).toEqual(all)
  })
})
