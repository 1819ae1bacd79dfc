import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../test/acceptance/client/until.ts'
import {
  live,
  openStreamFixture,
  type StreamFixture,
  sampleKey,
  zero,
} from '../../test/support/fixtures/stream-fixture.ts'
import { utcMs } from '../core/clocks/feed-clock.ts'
import { compoundKey } from '../core/feeds/compound-key.ts'

let fixture: StreamFixture
beforeAll(async () => {
  fixture = await openStreamFixture()
})
afterAll(() => fixture.close())
let minute = 0

const a = compoundKey(zero, 'SYM0')
const b = compoundKey(zero, 'SYM1')
const foreign = compoundKey(live, 'SYM0')

describe('a change of a key applies to its open sockets', () => {
  test('revocation closes the sockets of that key only, with KEY_INACTIVE and 4500', async () => {
    const [mine, other] = [await fixture.issue(), await fixture.issue()]
    const sockets = await Promise.all([fixture.connect(mine.secret), fixture.connect(mine.secret)])
    const stays = await fixture.connect(other.secret)
    await mine.update({ revoked: true })
    for (const socket of sockets) {
      expect(await socket.closed).toEqual({ code: 4500, reason: 'key revoked' })
      expect(socket.messages.at(-1)).toEqual({
        type: 'error',
        code: 'KEY_INACTIVE',
        message: expect.any(String) as string,
      })
    }
    await stays.settled()
    expect(await mine.inUse()).toBe(0)
  })

  test('without a notification, the poll finds a revocation within five seconds', async () => {
    const mine = await fixture.issue()
    const socket = await fixture.connect(mine.secret)
    const { version } = fixture.registry.view()
    const { record } = mine
    await fixture.stores.registry.append(version, [
      { kind: 'key', id: record.id, body: { ...record, revoked: true } },
    ])
    await fixture.clock.advance(5_000)
    expect((await socket.closed).code).toBe(4500)
  })

  test('a key that expires closes its socket with KEY_EXPIRED and 4501', async () => {
    const mine = await fixture.issue({ expiresAt: utcMs(fixture.clock.utcMs() + 30_000) })
    const socket = await fixture.connect(mine.secret)
    await fixture.clock.advance(29_000)
    await socket.settled()
    await fixture.clock.advance(2_000)
    expect(await socket.closed).toEqual({ code: 4501, reason: 'key expired' })
    expect(socket.messages.at(-1)).toMatchObject({ type: 'error', code: 'KEY_EXPIRED' })
  })

  test('a socket whose address is no longer allowed is closed with IP_NOT_ALLOWED and 4502', async () => {
    const mine = await fixture.issue({ allowIps: ['127.0.0.1'] })
    const socket = await fixture.connect(mine.secret)
    await mine.update({ allowIps: ['203.0.113.0/24'] })
    expect(await socket.closed).toEqual({ code: 4502, reason: 'address no longer allowed' })
    expect(socket.messages.at(-1)).toMatchObject({ type: 'error', code: 'IP_NOT_ALLOWED' })
  })

  test("at the end of a rotation's overlap a socket with the old secret is closed with KEY_INVALID", async () => {
    const mine = await fixture.issue()
    const [old] = mine.record.secrets
    const next = sampleKey()
    const socket = await fixture.connect(mine.secret)
    const until_ = utcMs(fixture.clock.utcMs() + 10_000)
    await mine.update({ secrets: [...next.record.secrets, { digest: old?.digest ?? '', until: until_ }] })
    const successor = await fixture.connect(next.secret)
    await fixture.clock.advance(9_000)
    await socket.settled()
    await fixture.clock.advance(2_000)
    expect(await socket.closed).toEqual({ code: 4500, reason: 'key revoked' })
    expect(socket.messages.at(-1)).toMatchObject({ type: 'error', code: 'KEY_INVALID' })
    await successor.settled()
  })

  test('a withdrawn grant ends its subscriptions with a reason; other subscriptions and the socket stay', async () => {
    const mine = await fixture.issue({ feeds: [zero, live] })
    const socket = await fixture.connect(mine.secret)
    await socket.subscribe([a, foreign, b])
    await mine.update({ feeds: [live] })
    expect(await socket.next('unsubscribed')).toEqual({
      type: 'unsubscribed',
      symbols: [a, b],
      reason: 'SYMBOL_NOT_PERMITTED',
    })
    await fixture.publish([a, b], ++minute)
    await fixture.publish([foreign], minute, live)
    await socket.next('bar')
    await socket.settled()
    expect(socket.bars().map(({ symbol }) => symbol)).toEqual([foreign])
    expect(await socket.subscribe([a, foreign])).toMatchObject({ symbols: [foreign], rejected: [a] })
    await mine.update({ feeds: [zero, live] })
    expect(await socket.subscribe([a])).toMatchObject({ symbols: [a] })
  })

  test('a bar that arrived before the grant was withdrawn is delivered, later ones are not', async () => {
    const mine = await fixture.issue()
    const socket = await fixture.connect(mine.secret)
    await socket.subscribe([a])
    fixture.turns.hold()
    await fixture.publish([a], ++minute)
    await mine.update({ feeds: [] })
    fixture.turns.release()
    await socket.next('unsubscribed')
    await fixture.publish([a], ++minute)
    await socket.settled()
    expect(socket.messages.map(({ type }) => type)).toEqual([
      'connected',
      'subscribed',
      'bar',
      'unsubscribed',
      'pong',
    ])
  })

  test('a key that was revoked while its slot was being taken closes the new socket', async () => {
    let release: (() => void) | undefined
    let asked = false
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const waiting = await openStreamFixture({
      change: ({ slots }) => ({
        slots: {
          ...slots,
          async open(keyId, sessionId, cap) {
            asked = true
            await gate
            return slots.open(keyId, sessionId, cap)
          },
        },
      }),
    })
    const mine = await waiting.issue()
    const connecting = waiting.connect(mine.secret)
    await until('the request of the slot', () => asked)
    await mine.update({ revoked: true })
    release?.()
    expect((await (await connecting).closed).code).toBe(4500)
    await waiting.close()
  })
})

describe('a drain', () => {
  let own: StreamFixture
  beforeEach(async () => {
    own = await openStreamFixture()
  })
  afterEach(() => own.close())
  test('closes every socket with 1012 after its last bars, and frees every slot', async () => {
    const mine = await own.issue()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => own.connect(mine.secret)))
    for (const socket of sockets) await socket.subscribe([a])
    own.turns.hold()
    await own.publish([a], ++minute)
    await own.stream.drain()
    own.turns.release()
    for (const socket of sockets) {
      expect(await socket.closed).toEqual({ code: 1012, reason: 'draining' })
      expect(socket.bars(a)).toHaveLength(1)
    }
    expect(own.stream.load().connections).toBe(0)
    expect(await mine.inUse()).toBe(0)
    await expect(own.connect(mine.secret)).rejects.toThrow('503')
  })

  test('does not wait for clients that do not answer', async () => {
    const mine = await own.issue()
    const socket = await own.connect(mine.secret)
    socket.raw.pause()
    const drained = own.stream.drain()
    await until('the socket to be leaving', () => own.stream.load().connections === 0)
    await own.clock.advance(3_000)
    await drained
    await until('the connection to be gone', () => own.connections() === 0)
    expect(await mine.inUse()).toBe(0)
  })

  test('without sockets ends at once', async () => {
    await expect(own.stream.drain()).resolves.toBeUndefined()
  })
})
