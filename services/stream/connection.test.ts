import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../test/acceptance/client/until.ts'
import { type OpenedStream, openStream, symbolNames, zero } from '../../test/support/open-stream.ts'
import { clientFrame as frame, openRawClient } from '../../test/support/raw-client.ts'
import { compoundKey } from '../core/compound-key.ts'
import { Unavailable } from '../core/failure.ts'
import type { Slots } from '../ports/slots.ts'
import { backlogAgeMsMax, backlogBytesMax } from './connection.ts'

let house: OpenedStream
let secret: string
let inUse: () => Promise<number>
beforeAll(async () => {
  house = await openStream()
})
beforeEach(async () => {
  ;({ secret, inUse } = await house.issue())
})
afterAll(() => house.close())

const symbols = symbolNames.map((name) => compoundKey(zero, name))
const nobodyLeft = () => until('no slot in use', async () => (await inUse()) === 0)

const rawClient = (key = secret) => openRawClient(house, key)

describe('an idle connection', () => {
  test('is closed with 4000 after sixty seconds and not before, and its slot is free', async () => {
    const socket = await house.connect(secret)
    await socket.settled()
    await house.clock.advance(59_000)
    await socket.settled()
    await house.clock.advance(59_000)
    expect(await inUse()).toBe(1)
    await house.clock.advance(2_000)
    expect(await socket.closed).toEqual({ code: 4000, reason: 'idle' })
    await nobodyLeft()
  })

  test('lives as long as it sends protocol pings', async () => {
    const socket = await house.connect(secret)
    for (let i = 0; i < 5; i++) {
      await house.clock.advance(50_000)
      const answered = once(socket.raw, 'pong')
      socket.raw.ping('x')
      expect(String(await answered)).toBe('x')
    }
    await socket.close()
    await nobodyLeft()
  })

  test('does not live on what it is sent, nor on pongs', async () => {
    const socket = await house.connect(secret)
    await socket.subscribe(symbols)
    const written = house.metric('fxd_stream_bars_total')
    for (let minute = 1; minute <= 59; minute++) {
      await house.publish(symbols, minute)
      await house.clock.advance(1_000)
    }
    socket.raw.pong()
    await until('the bars', async () => socket.bars().length === 59 * symbols.length)
    expect((await house.metric('fxd_stream_bars_total')) - (await written)).toBe(59 * symbols.length)
    await house.clock.advance(2_000)
    expect((await socket.closed).code).toBe(4000)
  })
})

describe('slots', () => {
  test('a socket keeps its slot for as long as it is open: leases are renewed together', async () => {
    const calls: number[] = []
    const counted = await openStream({
      change: ({ slots }) => ({
        slots: {
          ...slots,
          renew: (all: Parameters<Slots['renew']>[0]) => (calls.push(all.length), slots.renew(all)),
        },
      }),
    })
    const key = await counted.issue()
    const sockets = await Promise.all([1, 2, 3].map(() => counted.connect(key.secret)))
    for (let i = 0; i < 9; i++) {
      await counted.clock.advance(20_000)
      await Promise.all(sockets.map((socket) => socket.settled()))
    }
    expect(await key.inUse()).toBe(3)
    expect(calls).toEqual(Array.from({ length: 9 }, () => 3))
    // A session that ended is never renewed again.
    await sockets[0]?.close()
    await counted.clock.advance(20_000)
    expect(calls.at(-1)).toBe(2)
    await counted.close()
  })

  test.each([
    ['a client that says 1000', frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }), 1000],
    ['a client that says no code', frame('', { opcode: 8 }), 1005],
    ['a client that makes up a code', frame(Buffer.from([0x13, 0x87]), { opcode: 8 }), 4999],
    ['a binary message', frame('x', { opcode: 2 }), 1003],
    ['a message beyond 64 KiB', frame('x', { length: 65_537 }), 1009],
    ['a frame without a mask', frame('x', { masked: false }), 1002],
    ['text that is no UTF-8', frame(Buffer.from([0xff])), 1007],
    ['a reserved opcode', frame('x', { opcode: 3 }), 1002],
  ])('are free before the close frame goes out: %s', async (_, bytes, code) => {
    const { secret: only } = await house.issue({
      limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
    })
    for (let again = 0; again < 5; again++) {
      const { socket, goodbye } = await rawClient(only)
      socket.write(bytes)
      expect(await goodbye).toBe(code)
      // The first connection is still there: nobody has ended it.
      const next = await house.connect(only)
      next.raw.terminate()
      await until('its slot to be free', async () => (await house.metric('fxd_stream_connections')) === 0)
      socket.destroy()
    }
  })

  test('a connection that breaks frees its slot at once', async () => {
    const socket = await house.connect(secret)
    expect(await inUse()).toBe(1)
    socket.raw.terminate()
    await nobodyLeft()
    const raw = await rawClient()
    raw.socket.resetAndDestroy()
    await nobodyLeft()
  })

  test('slots that cannot be renewed or freed are counted, and sockets stay as they are', async () => {
    const gone = () => Promise.reject(new Unavailable('slots'))
    const away = await openStream({
      change: ({ slots }) => ({ slots: { ...slots, renew: gone, close: gone } }),
    })
    const socket = await away.connect((await away.issue()).secret)
    await away.clock.advance(20_000)
    await socket.settled()
    await socket.close()
    const failures = (call: string) => away.metric(`fxd_stream_slot_failures_total{call="${call}"}`)
    expect([await failures('renew'), await failures('close')]).toEqual([1, 1])
    await away.close()
  })

  test('slots that cannot be freed do not hold up the close', async () => {
    const stuck = await openStream({
      change: ({ slots }) => ({ slots: { ...slots, close: () => new Promise<void>(() => undefined) } }),
    })
    const key = await stuck.issue()
    const socket = await stuck.connect(key.secret)
    socket.raw.close(1000)
    await until('the socket to be leaving', () => stuck.stream.connections() === 0)
    await stuck.clock.advance(1_000)
    expect((await socket.closed).code).toBe(1000)
    await stuck.close()
  })
})

const publishMany = (from: number, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => house.publish(symbols, from + i)))

describe('T6: a client that does not read', () => {
  test('is closed with 4001 once a megabyte waits, and harms nobody else', async () => {
    const [slow, good] = [await house.connect(secret), await house.connect(secret)]
    await Promise.all([slow.subscribe(symbols), good.subscribe(symbols)])
    slow.raw.pause()
    const first = 10_000
    let minute = first
    while ((await house.metric('fxd_stream_closes_total{code="4001"}')) === 0) {
      await publishMany(minute, 50)
      minute += 50
      await good.settled()
      // The kernel takes a few megabytes by itself; beyond that and our bound, it must be over.
      expect((minute - first) * symbols.length * 150).toBeLessThan(40 * backlogBytesMax)
    }
    expect(good.bars()).toHaveLength((minute - first) * symbols.length)
    slow.raw.resume()
    expect(await slow.closed).toEqual({ code: 4001, reason: 'too slow' })
    for (const symbol of symbols) {
      // What it got is in order and without a hole: the close says what is missing.
      const minutes = slow.bars(symbol).map(({ bar }) => bar.volume)
      expect(minutes.length).toBeGreaterThan(50)
      expect(minutes).toEqual(minutes.map((_, i) => first + i))
    }
    await good.close()
    await nobodyLeft()
  }, 60_000)

  test('is closed with 4001 when little waits for too long', async () => {
    const slow = await house.connect(secret)
    await slow.subscribe(symbols)
    slow.raw.pause()
    let minute = 100_000
    for (; (await house.metric('fxd_stream_backlog_bytes')) === 0; minute += 20) await publishMany(minute, 20)
    await house.clock.advance(backlogAgeMsMax - 2_000)
    expect(await inUse()).toBe(1)
    await house.clock.advance(4_000)
    slow.raw.resume()
    expect((await slow.closed).code).toBe(4001)
    await nobodyLeft()
  }, 60_000)
})
