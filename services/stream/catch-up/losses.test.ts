import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  gapsOf,
  minutesOf,
  openStreamFixture,
  type StreamFixture,
  timeOf,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import type { Bus, Follower } from '../../ports/bus.ts'
import { queuedMsMax } from '../live/hole.ts'
import { lostMs, lostMsMax } from '../live/lost-positions.ts'

/** Number of the current minute; the tests publish minutes shortly before it. */
const nowMinute = 2_000

/** All followers of the bus, to which the tests report a loss. */
const followers = new Set<Follower>()
const tapped = (bus: Bus): Bus => ({
  ...bus,
  follow(follower) {
    followers.add(follower)
    const stop = bus.follow(follower)
    return () => {
      followers.delete(follower)
      stop()
    }
  },
})

let fixture: StreamFixture
let secret: string
let next = 0
/** Symbols that no other test uses. */
let [a, b] = [compoundKey(zero, 'SYM0'), compoundKey(zero, 'SYM1')]
beforeAll(async () => {
  fixture = await openStreamFixture({
    start: (timeOf(nowMinute) + 30) * 1000,
    change: ({ bus }) => ({ bus: tapped(bus) }),
  })
  ;({ secret } = await fixture.issue({ feeds: [zero] }))
})
beforeEach(() => {
  ;[a, b] = [compoundKey(zero, `SYM${next++}`), compoundKey(zero, `SYM${next++}`)]
})
const sockets: StreamSocket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.raw.terminate()
  await until('all sockets to be gone', () => fixture.stream.load().connections === 0)
  await settle()
})
afterAll(() => fixture.close())

async function opened(...symbols: CompoundKey[]): Promise<StreamSocket> {
  const socket = await fixture.connect(secret)
  sockets.push(socket)
  if (symbols.length > 0) await socket.subscribe(symbols)
  return socket
}
async function resumed(symbol: CompoundKey, minute: number): Promise<StreamSocket> {
  const socket = await opened()
  socket.send({ action: 'subscribe', symbols: [symbol], since: timeOf(minute) })
  await socket.next('subscribed')
  return socket
}

let position = 0
/** Publishes the minutes and stores them, as ingest does. */
async function close(symbol: CompoundKey, ...minutes: number[]): Promise<void> {
  for (const minute of minutes) {
    position = await fixture.publish([symbol], minute)
    await fixture.store(symbol, [minute])
  }
}
const lose = () => followers.forEach((follower) => follower.lost(zero, position))
/** Reports that the store shows all published bars. */
const settle = () => fixture.stores.bus.publish({ type: 'settled', feed: zero }, 1)

describe('a client that returns after the bus lost bars', () => {
  test('gets the lost bars if it sends `since` with the time of the GAP frame', async () => {
    const first = await opened(a)
    await close(a, 1991, 1992, 1993, 1994, 1995)
    await first.settled()
    lose()
    await fixture.clock.advance(lostMs)
    await until('the gap', () => gapsOf(first).length === 1)
    expect(gapsOf(first)).toMatchObject([{ gaps: [{ symbol: a, after: timeOf(1995) }] }])
    expect(await fixture.metric('fxd_stream_gaps_total{cause="lost"}')).toBe(1)
    await fixture.store(a, [1996, 1997])
    await settle()
    await close(a, 1998)
    const socket = await resumed(a, 1995)
    await until('the bars', () => minutesOf(socket, a).includes(1998))
    expect(minutesOf(socket, a)).toEqual([1996, 1997, 1998])
    expect(gapsOf(socket)).toEqual([])
  })

  test('gets the lost bars of each of two losses that one hole contains', async () => {
    const first = await opened(a)
    await close(a, 1981)
    lose()
    position = await fixture.publish([a], 1982)
    lose()
    position = await fixture.publish([a], 1984)
    await fixture.clock.advance(queuedMsMax)
    await until('the bars', () => minutesOf(first, a).includes(1984))
    await fixture.store(a, [1982, 1983, 1984])
    await settle()
    const socket = await resumed(a, 1982)
    await until('the bars', () => minutesOf(socket, a).includes(1984))
    expect(minutesOf(socket, a)).toEqual([1983, 1984])
  })

  test('gets the lost bars although its symbol had no subscriber during the loss', async () => {
    for (const others of [[], [b]]) {
      const other = await opened(...others)
      await close(b, 1991 + others.length)
      await close(a, 1991 + 3 * others.length)
      lose()
      await fixture.store(a, [1992 + 3 * others.length])
      await settle()
      await close(a, 1993 + 3 * others.length)
      await other.settled()
      const socket = await resumed(a, 1991 + 3 * others.length)
      // A replay waits for a hole of a socket that still subscribes the symbol.
      await until('the bars', async () => {
        await fixture.clock.advance(100)
        return minutesOf(socket, a).includes(1993 + 3 * others.length)
      })
      expect(minutesOf(socket, a)).toEqual([1992 + 3 * others.length, 1993 + 3 * others.length])
    }
  })

  test('waits until the store shows the lost bars, although no refill runs', async () => {
    await close(a, 1991)
    lose()
    const socket = await resumed(a, 1991)
    await fixture.clock.advance(1_000)
    expect(minutesOf(socket, a)).toEqual([])
    await fixture.store(a, [1992])
    await settle()
    await fixture.clock.advance(1_000)
    await until('the bar', () => minutesOf(socket, a).length === 1)
    await close(a, 1993)
    await until('the live one', () => minutesOf(socket, a).length === 2)
    expect(minutesOf(socket, a)).toEqual([1992, 1993])
    expect(gapsOf(socket)).toEqual([])
  })

  test('waits for the takeover that follows another one before the store was complete', async () => {
    await close(a, 1991)
    lose()
    const socket = await resumed(a, 1991)
    await fixture.clock.advance(lostMs - 1_000)
    lose()
    await fixture.clock.advance(lostMs - 3_000)
    expect(gapsOf(socket)).toEqual([])
    await fixture.store(a, [1992])
    await settle()
    await until('the bar', async () => {
      await fixture.clock.advance(100)
      return minutesOf(socket, a).length === 1
    })
    expect(gapsOf(socket)).toEqual([])
  })

  test('waits for a minute at most while losses follow each other, and again after a later loss', async () => {
    await close(a, 1991)
    lose()
    const socket = await resumed(a, 1991)
    const stepMs = lostMs / 2
    for (let ms = 0; ms < lostMsMax - stepMs; ms += stepMs) {
      await fixture.clock.advance(stepMs)
      expect(gapsOf(socket)).toEqual([])
      lose()
    }
    // The second loss opened a hole, which ends a minute later.
    await fixture.clock.advance(2 * stepMs)
    await until('the gap', () => gapsOf(socket).length > 0)
    await fixture.clock.advance(lostMs)
    lose()
    const other = await resumed(a, 1991)
    await fixture.clock.advance(lostMs - 1_000)
    expect(gapsOf(other)).toEqual([])
  })

  test('gets a GAP frame when nothing confirms that the store shows the lost bars', async () => {
    await close(a, 1991, 1992)
    lose()
    const socket = await resumed(a, 1990)
    await fixture.clock.advance(lostMs)
    await until('the gap', () => gapsOf(socket).length === 1)
    expect(minutesOf(socket, a)).toEqual([1991, 1992])
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a, after: timeOf(1992) }] }])
  })
})
