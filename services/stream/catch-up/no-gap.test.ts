import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import { effort } from '../../../test/support/effort.ts'
import {
  a,
  ask,
  close,
  closeSockets,
  fixture,
  gated,
  nowMinute,
  resumed,
  settledGaps,
  store,
  useResumableStream,
} from '../../../test/support/fixtures/resumable-stream-fixture.ts'
import {
  gapsOf,
  live,
  minutesOf,
  openStreamFixture,
  timeOf,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'

useResumableStream()

describe('no gap and no duplicate', () => {
  test('bars that arrive while the store is read follow the stored ones', async () => {
    await fixture.store(a, [1990, 1991])
    let open = (): void => undefined
    store.gate = new Promise((resolve) => (open = resolve))
    const socket = await resumed(a, 1989)
    await close(a, 1992, 1993)
    expect(minutesOf(socket, a)).toEqual([])
    open()
    await until('all', () => minutesOf(socket, a).length === 4)
    await close(a, 1994)
    await until('the live one', () => minutesOf(socket, a).length === 5)
    expect(minutesOf(socket, a)).toEqual([1990, 1991, 1992, 1993, 1994])
  })

  test('a bar that the store shows before the bus delivers it is sent once', async () => {
    await fixture.store(a, [1990, 1991])
    const socket = await resumed(a, 1989)
    await until('the stored ones', () => minutesOf(socket, a).length === 2)
    await fixture.publish([a], 1991)
    await close(a, 1992)
    await until('the live one', () => minutesOf(socket, a).length === 3)
    expect(minutesOf(socket, a)).toEqual([1990, 1991, 1992])
  })

  test('while the store is unavailable the client gets a GAP frame, then live bars follow', async () => {
    store.away = true
    const socket = await resumed(a, 1989)
    for (let i = 0; i < 3; i++) await fixture.clock.advance(1_000)
    await until('the gap', () => gapsOf(socket).length === 1)
    expect(gapsOf(socket)).toMatchObject([{ gaps: [{ symbol: a, after: timeOf(1989) }] }])
    await fixture.publish([a], 1999)
    await until('the live one', () => minutesOf(socket, a).length === 1)
  })

  test('a socket that is closed before its replay gets a GAP frame for the missing bars', async () => {
    const own = await openStreamFixture({
      start: (timeOf(nowMinute) + 30) * 1000,
      change: ({ bars }) => ({ bars: gated(bars) }),
    })
    store.gate = new Promise(() => undefined)
    const socket = await own.connect((await own.issue()).secret)
    await ask(socket, { symbols: [a], since: timeOf(1980) })
    await own.stream.drain()
    expect((await socket.closed).code).toBe(1012)
    expect(socket.messages.at(-1)).toMatchObject({ code: 'GAP', gaps: [{ symbol: a, after: timeOf(1980) }] })
    await own.close()
  })

  test('an unsubscribed symbol is not replayed; a new subscription starts a new replay', async () => {
    await fixture.store(a, [1990, 1991])
    let open = (): void => undefined
    store.gate = new Promise((resolve) => (open = resolve))
    const socket = await resumed(a, 1989)
    socket.send({ action: 'unsubscribe', symbols: [a] })
    await socket.next('unsubscribed')
    await ask(socket, { symbols: [a], since: timeOf(1990) })
    open()
    await until('the bar', () => minutesOf(socket, a).length === 1)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([1991])
  })

  test('a symbol subscribed again waits once, for bars later than the last `since`', async () => {
    const socket = await resumed(a, 1991)
    const unsubscribe = async () => {
      socket.send({ action: 'unsubscribe', symbols: [a] })
      await socket.next('unsubscribed')
    }
    const waiting = () => fixture.metric('fxd_stream_replays_caught')
    for (let i = 0; i < 3; i++) {
      await unsubscribe()
      expect(await waiting()).toBe(0)
      await ask(socket, { symbols: [a], since: timeOf(1998) })
      await until('the socket to wait', async () => (await waiting()) === 1)
    }
    await close(a, 1997)
    await socket.settled()
    expect(minutesOf(socket, a)).toEqual([])
    await close(a, 1999)
    await until('the bar', () => minutesOf(socket, a).length === 1)
    expect(minutesOf(socket, a)).toEqual([1999])
    expect(await waiting()).toBe(0)
  })

  test('nothing is kept for a socket that left while it waited for the next live bar', async () => {
    const socket = await resumed(a, 1991)
    const waiting = () => fixture.metric('fxd_stream_replays_caught')
    await until('the socket to wait', async () => (await waiting()) === 1)
    socket.raw.terminate()
    await until('the socket to be gone', () => fixture.stream.load().connections === 0)
    expect(await waiting()).toBe(0)
  })

  test('a client that connects at any time, with the store ahead of the bus or not, gets every bar once and in order', async () => {
    const step = fc.constantFrom('publish', 'store', 'both', 'turn', 'turn', 'clock')
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(12), async (steps, when) => {
        // A symbol without recent bars in this process.
        const symbol = compoundKey(live, `SYM${(run % 39) + 1}`)
        const first = 1_000 + 100 * Math.floor(run++ / 39)
        let socket: StreamSocket | undefined
        let [stored, published] = [first - 1, first - 1]
        const publish = () => fixture.publish([symbol], ++published, live)
        const keep = () => fixture.store(symbol, [++stored], live)
        for (const [i, each] of steps.entries()) {
          if (i === when % steps.length) socket = await resumed(symbol, first - 1)
          if (each === 'publish' || each === 'both') await publish()
          if ((each === 'store' || each === 'both') && stored <= published) await keep()
          if (each === 'turn') await socket?.settled()
          if (each === 'clock') await fixture.clock.advance(250)
        }
        while (stored < published) await keep()
        while (published < stored) await publish()
        socket ??= await resumed(symbol, first - 1)
        await publish()
        await keep()
        await until('the last bar', () => minutesOf(socket, symbol).at(-1) === published)
        const all = Array.from({ length: published - first + 1 }, (_, i) => first + i)
        expect(minutesOf(socket, symbol)).toEqual(all)
        expect(await settledGaps(socket)).toEqual([])
      }),
      // With 31 or more open sockets the fan-out waits for the clock, which stands still here.
      { numRuns: 25 * effort, plugins: [fc.afterEach(closeSockets)] },
    )
  })
})
