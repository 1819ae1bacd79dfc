import { once } from 'node:events'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../test/acceptance/client/until.ts'
import { type OpenedStream, openStream, symbolNames, zero } from '../../test/support/open-stream.ts'
import { compoundKey } from '../core/compound-key.ts'
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

/** A client that does its own framing, so that it can do it wrong. */
async function rawClient(key = secret): Promise<{ socket: Socket; goodbye: Promise<number> }> {
  const socket = await house.dial()
  socket.write(
    `GET /v1/stream?api_key=${key} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  let seen = Buffer.alloc(0)
  const connected = Promise.withResolvers<void>()
  const goodbye = Promise.withResolvers<number>()
  goodbye.promise.catch(() => undefined)
  socket.on('data', (part) => {
    seen = Buffer.concat([seen, part])
    if (seen.includes('"connected"')) connected.resolve()
    const code = closeCode(seen)
    if (code !== undefined) goodbye.resolve(code)
  })
  socket.on('close', () => goodbye.reject(new Error('closed without a close frame')))
  await connected.promise
  return { socket, goodbye: goodbye.promise }
}

/** The code in the close frame of a server, once it is there. */
function closeCode(bytes: Buffer): number | undefined {
  let at = bytes.indexOf('\r\n\r\n') + 4
  while (at + 2 <= bytes.length) {
    const [opcode = 0, short = 0] = [(bytes[at] ?? 0) & 15, bytes[at + 1]]
    if (opcode === 8) return short === 0 ? 1005 : bytes.readUInt16BE(at + 2)
    const wide = short === 126 ? 2 : 0
    at += 2 + wide + (wide ? bytes.readUInt16BE(at + 2) : short)
  }
  return undefined
}

/** A client frame with a mask of zeroes; `length` may lie. */
function frame(
  payload: Buffer | string,
  { opcode = 1, fin = true, length = -1, masked = true } = {},
): Buffer {
  const bytes = Buffer.from(payload)
  const said = length < 0 ? bytes.length : length
  const mask = masked ? 0x80 : 0
  const wide = Buffer.alloc(8)
  wide.writeBigUInt64BE(BigInt(said))
  const size =
    said < 126 ? [mask | said] : said < 65_536 ? [mask | 126, ...wide.subarray(6)] : [mask | 127, ...wide]
  return Buffer.concat([
    Buffer.from([(fin ? 0x80 : 0) | opcode, ...size, ...(masked ? [0, 0, 0, 0] : [])]),
    bytes,
  ])
}

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

describe('T7: what a message may be', () => {
  test('sixteen fragments are read, more are not', async () => {
    const pieces = [...'{"action":"ping"}']
    const fragments = (count: number): Buffer[] =>
      Array.from({ length: count }, (_, i) => {
        const text = i < count - 1 ? (pieces[i] ?? '') : pieces.slice(i).join('')
        return frame(text, { opcode: i === 0 ? 1 : 0, fin: i === count - 1 })
      })
    const fine = await rawClient()
    fine.socket.write(Buffer.concat(fragments(16)))
    const [pong] = (await once(fine.socket, 'data')) as [Buffer]
    expect(String(pong)).toContain('"pong"')
    fine.socket.write(Buffer.concat(fragments(17)))
    expect(await fine.goodbye).toBe(1008)
    fine.socket.destroy()
  })

  test('a message that never ends is cut at sixteen fragments, for each of many sockets', async () => {
    const clients = await Promise.all(Array.from({ length: 100 }, () => rawClient()))
    for (const [i, { socket }] of clients.entries()) {
      for (let n = 0; n < 20; n++) socket.write(frame('x'.repeat(i), { opcode: n === 0 ? 1 : 0, fin: false }))
    }
    for (const { socket, goodbye } of clients) {
      expect(await goodbye).toBe(1008)
      socket.destroy()
    }
    await nobodyLeft()
  })

  test('a message of 64 KiB is read', async () => {
    const message = JSON.stringify({ action: 'ping', x: '' }).replace('""', `"${'x'.repeat(65_512)}"`)
    expect(message).toHaveLength(65_536)
    const socket = await house.connect(secret)
    socket.send(message)
    await socket.next('pong')
    await socket.close()
  })
})

test('no frames of any kind end the process or leave a slot behind', async () => {
  const opcode = fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.nat(15) })
  const text = fc.oneof(
    fc.constantFrom(
      '{"action":"ping"}',
      '{"action":"subscribe","symbols":["BROKERA:ZERO:SYM1","x"]}',
      '{',
      '',
    ),
    fc.json(),
  )
  const payload = fc.oneof(
    text.map((each) => Buffer.from(each)),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  )
  const odd = fc
    .tuple(payload, opcode, fc.nat(9), fc.nat(60), fc.option(fc.nat(70_000)))
    .map(([bytes, code, fin, masked, length]) =>
      frame(bytes, {
        opcode: code,
        fin: fin > 0,
        masked: masked > 0,
        length: masked < 55 ? -1 : (length ?? -1),
      }),
    )
  const stray = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes))
  const scripts = fc.array(fc.oneof({ weight: 9, arbitrary: odd }, { weight: 1, arbitrary: stray }), {
    maxLength: 12,
  })
  await fc.assert(
    fc.asyncProperty(scripts, fc.boolean(), async (script, abrupt) => {
      const { socket } = await rawClient()
      for (const bytes of script) socket.write(bytes)
      if (abrupt) socket.resetAndDestroy()
      else socket.end()
      if (!socket.closed) await once(socket, 'close')
    }),
    { numRuns: 500 },
  )
  await nobodyLeft()
  const socket = await house.connect(secret)
  await socket.settled()
  await socket.close()
}, 120_000)
