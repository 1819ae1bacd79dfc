import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import { clientFrame as frame, openRawClient } from '../../../test/support/clients/raw-client.ts'
import {
  openStreamFixture,
  type StreamFixture,
  symbolNames,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { dateText } from '../../core/clocks/calendar.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { type Slots, slotLeaseMs, slotRenewMs } from '../../ports/slots.ts'
import { backlogAgeMsMax, backlogBytesMax } from './connection.ts'

let fixture: StreamFixture
let secret: string
let inUse: () => Promise<number>
beforeAll(async () => {
  fixture = await openStreamFixture()
})
beforeEach(async () => {
  ;({ secret, inUse } = await fixture.issue())
})
afterAll(() => fixture.close())

const symbols = symbolNames.map((name) => compoundKey(zero, name))
const noSlotInUse = () => until('no slot in use', async () => (await inUse()) === 0)

const rawClient = (key = secret) => openRawClient(fixture, key)

describe('an idle connection', () => {
  test('is closed with 4000 after sixty seconds, not earlier, and its slot is free', async () => {
    const socket = await fixture.connect(secret)
    await socket.settled()
    await fixture.clock.advance(59_000)
    await socket.settled()
    await fixture.clock.advance(59_000)
    expect(await inUse()).toBe(1)
    await fixture.clock.advance(2_000)
    expect(await socket.closed).toEqual({ code: 4000, reason: 'idle' })
    await noSlotInUse()
  })

  test('stays open while it sends protocol pings', async () => {
    const socket = await fixture.connect(secret)
    for (let i = 0; i < 5; i++) {
      await fixture.clock.advance(50_000)
      const answered = once(socket.raw, 'pong')
      socket.raw.ping('x')
      expect(String(await answered)).toBe('x')
    }
    await socket.close()
    await noSlotInUse()
  })

  test('stays open while it sends protocol pongs that nobody requested', async () => {
    const socket = await fixture.connect(secret)
    for (let i = 0; i < 5; i++) {
      await fixture.clock.advance(50_000)
      socket.raw.pong('x')
      // A later frame is received after it, and is a sign of life only of another socket.
      await until('the pong', () => socket.raw.bufferedAmount === 0)
      const other = await fixture.connect(secret)
      await other.close()
    }
    expect(await inUse()).toBe(1)
    await socket.close()
    await noSlotInUse()
  })

  test('is not closed by the first sweep after a pause of the process, but by the second', async () => {
    const own = await openStreamFixture()
    const key = await own.issue()
    const [active, silent] = [await own.connect(key.secret), await own.connect(key.secret)]
    own.clock.freezeFor(70_000)
    await own.clock.advance(1)
    await active.settled()
    await own.clock.advance(1_000)
    expect((await silent.closed).code).toBe(4000)
    await active.settled()
    await own.close()
  })

  test('is closed although it gets frames', async () => {
    const socket = await fixture.connect(secret)
    await socket.subscribe(symbols)
    const written = fixture.metric('fxd_stream_bars_total')
    for (let minute = 1; minute <= 59; minute++) {
      await fixture.publish(symbols, minute)
      await fixture.clock.advance(1_000)
    }
    await until('the bars', async () => socket.bars().length === 59 * symbols.length)
    expect((await fixture.metric('fxd_stream_bars_total')) - (await written)).toBe(59 * symbols.length)
    await fixture.clock.advance(2_000)
    expect((await socket.closed).code).toBe(4000)
  })
})

describe('slots', () => {
  test('an open socket keeps its slot: all leases are renewed together', async () => {
    const calls: number[] = []
    const counted = await openStreamFixture({
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

  test('that lapsed during a pause of the process are taken again; over the cap the newest socket is closed', async () => {
    const own = await openStreamFixture()
    const limits = { rpm: 1, rpd: 1, wsConnections: 3, wsSymbols: 1 }
    const { secret: of, record, inUse: used } = await own.issue({ limits })
    const sockets = [await own.connect(of), await own.connect(of), await own.connect(of)]
    own.clock.freezeFor(slotLeaseMs + slotRenewMs)
    await own.stores.slots.open(record.id, 'a session of another process', 3)
    expect(await used()).toBe(1)
    await own.clock.advance(1)
    expect(await sockets[2]?.closed).toEqual({ code: 4002, reason: 'over the connection cap' })
    for (const socket of sockets.slice(0, 2)) await socket.settled()
    expect(await used()).toBe(3)
    const today = dateText(toSeconds(own.clock.utcMs()))
    const usage = await own.stores.limits.usage(record.id, today, today)
    expect(usage.get(today)).toMatchObject({ ws_connect: 4, ws_session: 4 })
    await own.close()
  })

  test('that lapsed and cannot be taken again are retried each second, before an emptied Redis grants them to others', async () => {
    let isUnavailable = false
    const own = await openStreamFixture({
      change: ({ slots }) => ({
        slots: {
          ...slots,
          open: (...args) => (isUnavailable ? Promise.reject(new Unavailable('slots')) : slots.open(...args)),
        },
      }),
    })
    const key = await own.issue()
    const socket = await own.connect(key.secret)
    own.clock.freezeFor(slotLeaseMs + slotRenewMs)
    isUnavailable = true
    await own.clock.advance(1)
    await socket.settled()
    await own.clock.advance(2_000)
    expect(await key.inUse()).toBe(0)
    isUnavailable = false
    await own.clock.advance(1_000)
    await socket.settled()
    expect(await key.inUse()).toBe(1)
    await own.close()
  })

  test('of sockets that are open at midnight count for the new day at once', async () => {
    const own = await openStreamFixture({ start: Date.UTC(2026, 0, 31, 23, 59, 50) })
    const { secret: of, record } = await own.issue()
    const socket = await own.connect(of)
    await own.clock.advance(10_000)
    const usage = await own.stores.limits.usage(record.id, '2026-02-01', '2026-02-01')
    expect(usage.get('2026-02-01')).toMatchObject({ ws_connect: 0, ws_session: 1 })
    await socket.settled()
    await own.close()
  })

  test.each([
    ['a client that sends 1000', frame(Buffer.from([0x03, 0xe8]), { opcode: 8 }), 1000],
    ['a client that sends no code', frame('', { opcode: 8 }), 1005],
    ['a client that sends an unknown code', frame(Buffer.from([0x13, 0x87]), { opcode: 8 }), 4999],
    ['a binary message', frame('x', { opcode: 2 }), 1003],
    ['a message above 64 KiB', frame('x', { length: 65_537 }), 1009],
    ['a frame without a mask', frame('x', { masked: false }), 1002],
    ['text that is no UTF-8', frame(Buffer.from([0xff])), 1007],
    ['a reserved opcode', frame('x', { opcode: 3 }), 1002],
  ])('are free before the close frame is sent: %s', async (_, bytes, code) => {
    const { secret: only } = await fixture.issue({
      limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
    })
    for (let again = 0; again < 5; again++) {
      const { socket, goodbye } = await rawClient(only)
      socket.write(bytes)
      expect(await goodbye).toBe(code)
      // The first connection is still open.
      const next = await fixture.connect(only)
      next.raw.terminate()
      await until('its slot to be free', async () => (await fixture.metric('fxd_stream_connections')) === 0)
      socket.destroy()
    }
  })

  test('a broken connection frees its slot at once', async () => {
    const socket = await fixture.connect(secret)
    expect(await inUse()).toBe(1)
    socket.raw.terminate()
    await noSlotInUse()
    const raw = await rawClient()
    raw.socket.resetAndDestroy()
    await noSlotInUse()
  })

  test('slots that cannot be renewed or freed are counted, and sockets stay open', async () => {
    const gone = () => Promise.reject(new Unavailable('slots'))
    const broken = await openStreamFixture({
      change: ({ slots }) => ({ slots: { ...slots, renew: gone, close: gone } }),
    })
    const socket = await broken.connect((await broken.issue()).secret)
    await broken.clock.advance(20_000)
    await socket.settled()
    await socket.close()
    const failures = (call: string) => broken.metric(`fxd_stream_slot_failures_total{call="${call}"}`)
    expect([await failures('renew'), await failures('close')]).toEqual([1, 1])
    await broken.close()
  })

  test('are free before a drain sends the close frame', async () => {
    const { secret: only } = await fixture.issue({
      limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
    })
    for (let again = 0; again < 5; again++) {
      const { socket, goodbye } = await rawClient(only)
      void fixture.stream.draining.start(0)
      await fixture.clock.advance(1)
      expect(await goodbye).toBe(1012)
      fixture.stream.draining.cancel()
      // The first connection is still open.
      const next = await fixture.connect(only)
      next.raw.terminate()
      await until('its slot to be free', async () => (await fixture.metric('fxd_stream_connections')) === 0)
      socket.destroy()
    }
  })

  test('slots that cannot be freed do not delay the close', async () => {
    const stuck = await openStreamFixture({
      change: ({ slots }) => ({ slots: { ...slots, close: () => new Promise<void>(() => undefined) } }),
    })
    const key = await stuck.issue()
    const socket = await stuck.connect(key.secret)
    socket.raw.close(1000)
    await until('the socket to be leaving', () => stuck.stream.load().connections === 0)
    await stuck.clock.advance(1_000)
    expect((await socket.closed).code).toBe(1000)
    await stuck.close()
  })
})

const publishMany = (from: number, count: number) =>
  Promise.all(Array.from({ length: count }, (_, i) => fixture.publish(symbols, from + i)))

describe('T6: a client that does not read', () => {
  test('is closed with 4001 once a megabyte is queued, and other sockets are not affected', async () => {
    const [slow, good] = [await fixture.connect(secret), await fixture.connect(secret)]
    await Promise.all([slow.subscribe(symbols), good.subscribe(symbols)])
    slow.raw.pause()
    const first = 10_000
    let minute = first
    while ((await fixture.metric('fxd_stream_closes_total{code="4001"}')) === 0) {
      await publishMany(minute, 50)
      minute += 50
      await good.settled()
      // The kernel buffers a few megabytes; with more than that and the maximum, the socket must be closed.
      expect((minute - first) * symbols.length * 150).toBeLessThan(40 * backlogBytesMax)
    }
    expect(good.bars()).toHaveLength((minute - first) * symbols.length)
    slow.raw.resume()
    expect(await slow.closed).toEqual({ code: 4001, reason: 'too slow' })
    for (const symbol of symbols) {
      // The bars it got are in order and without a hole.
      const minutes = slow.bars(symbol).map(({ bar }) => bar.volume)
      expect(minutes.length).toBeGreaterThan(50)
      expect(minutes).toEqual(minutes.map((_, i) => first + i))
    }
    await good.close()
    await noSlotInUse()
  }, 60_000)

  test('is closed with 4001 when few bytes are queued for too long', async () => {
    const slow = await fixture.connect(secret)
    await slow.subscribe(symbols)
    slow.raw.pause()
    let minute = 100_000
    for (; (await fixture.metric('fxd_stream_backlog_bytes')) === 0; minute += 20)
      await publishMany(minute, 20)
    await fixture.clock.advance(backlogAgeMsMax - 2_000)
    expect(await inUse()).toBe(1)
    await fixture.clock.advance(4_000)
    slow.raw.resume()
    expect((await slow.closed).code).toBe(4001)
    await noSlotInUse()
  }, 60_000)
})
