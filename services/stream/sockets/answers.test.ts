import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamSocket } from '../../../test/acceptance/client/socket.ts'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  live,
  minuteBar,
  openStreamFixture,
  type StreamFixture,
  tadil,
  zero,
} from '../../../test/support/fixtures/stream-fixture.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'

let fixture: StreamFixture
beforeAll(async () => {
  fixture = await openStreamFixture()
})
afterAll(() => fixture.close())

const a = compoundKey(zero, 'SYM0')
const b = compoundKey(zero, 'SYM1')
const c = compoundKey(zero, 'SYM2')
const foreign = compoundKey(live, 'SYM0')

async function socketOf(wsSymbols = 500): Promise<StreamSocket> {
  const { secret } = await fixture.issue({ limits: { rpm: 1, rpd: 1, wsConnections: 9, wsSymbols } })
  return fixture.connect(secret)
}

describe('subscribing', () => {
  test('a symbol is rejected when it is unknown, wrongly cased or of a feed that is not granted', async () => {
    const socket = await socketOf()
    const odd = ['BROKERA:ZERO:NOPE', 'BROKERA:ZERO:sym0', 'SYM0', '', '__proto__', 'BROKERA:ZERO:__proto__']
    expect(await socket.subscribe([...odd, foreign, a])).toEqual({
      type: 'subscribed',
      symbols: [a],
      rejected: [...odd, foreign],
    })
  })

  test('a symbol of a feed without minutes is accepted, and has no missed bars and no gap', async () => {
    const socket = await socketOf()
    const hourly = compoundKey(tadil, 'SYM0')
    socket.send({ action: 'subscribe', symbols: [hourly], type: 'bar', since: 0 })
    expect(await socket.next('subscribed')).toEqual({
      type: 'subscribed',
      symbols: [hourly],
      rejected: [],
      since: {},
    })
    await socket.settled()
    expect(socket.messages.map(({ type }) => type)).toEqual(['connected', 'subscribed', 'pong'])
  })

  test('the cap counts distinct subscribed symbols, over several messages', async () => {
    const socket = await socketOf(2)
    expect(await socket.subscribe([a, a, foreign, a])).toMatchObject({ symbols: [a], rejected: [foreign] })
    expect(await socket.subscribe([a, b, c])).toMatchObject({ symbols: [a, b], rejected: [c] })
    socket.send({ action: 'unsubscribe', symbols: [a, 'nonsense', a] })
    expect(await socket.next('unsubscribed')).toEqual({ type: 'unsubscribed', symbols: [a, 'nonsense'] })
    expect(await socket.subscribe([c])).toMatchObject({ symbols: [c], rejected: [] })
  })

  test('a raised symbol limit applies to open sockets', async () => {
    const { secret, record, update } = await fixture.issue({
      limits: { rpm: 1, rpd: 1, wsConnections: 9, wsSymbols: 1 },
    })
    const socket = await fixture.connect(secret)
    expect((await socket.subscribe([a, b])).rejected).toEqual([b])
    await update({ limits: { ...record.limits, wsSymbols: 2 } })
    expect((await socket.subscribe([b])).symbols).toEqual([b])
  })

  test('a message with the maximum number of symbols is answered completely', async () => {
    const socket = await socketOf()
    const many = Array.from({ length: 5_000 }, (_, n) => `X:Y:${n}`)
    const { rejected } = await socket.subscribe(many)
    expect(rejected).toEqual(many)
  })
})

describe('a bar goes to exactly the sockets that were subscribed when it arrived', () => {
  test('not to a later subscriber, but to one that unsubscribed before the burst ran', async () => {
    const [early, late] = [await socketOf(), await socketOf()]
    await early.subscribe([a])
    fixture.turns.hold()
    await fixture.publish([a], 1)
    early.send({ action: 'unsubscribe', symbols: [a] })
    late.send({ action: 'subscribe', symbols: [a] })
    await Promise.all([early.next('unsubscribed'), late.next('subscribed')])
    fixture.turns.release()
    await Promise.all([early.settled(), late.settled()])
    expect(early.messages.map(({ type }) => type)).toEqual([
      'connected',
      'subscribed',
      'bar',
      'unsubscribed',
      'pong',
    ])
    expect(late.messages.map(({ type }) => type)).toEqual(['connected', 'subscribed', 'pong'])
  })

  test('the frames of several symbols and minutes arrive each once, per symbol in order', async () => {
    const socket = await socketOf()
    await socket.subscribe([a, b])
    await Promise.all([2, 3, 4].map((minute) => fixture.publish([a, b, c], minute)))
    await until('the last bar', () => socket.bars().length === 6)
    await socket.settled()
    for (const symbol of [a, b]) {
      expect(socket.bars(symbol).map(({ bar }) => bar.volume)).toEqual([2, 3, 4])
    }
    expect(socket.bars(c)).toEqual([])
    const { revision: _, ...bar } = minuteBar(2)
    expect(socket.frames).toContain(JSON.stringify({ type: 'bar', symbol: a, bar }))
  })
})

test('a pong has the time in epoch seconds', async () => {
  const socket = await socketOf()
  socket.send({ action: 'ping' })
  expect(await socket.next('pong')).toEqual({ type: 'pong', t: Math.floor(fixture.clock.utcMs() / 1000) })
})

test('the connected message comes first, with the limits of this key', async () => {
  const socket = await socketOf(7)
  await socket.settled()
  const [first = ''] = socket.frames
  expect(first).toBe(
    JSON.stringify({
      type: 'connected',
      session_id: (JSON.parse(first) as { session_id: string }).session_id,
      server_time: Math.floor(fixture.clock.utcMs() / 1000),
      limits: { max_symbols: 7, idle_timeout_seconds: 60, max_message_bytes: 65_536 },
    }),
  )
})
