import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../../test/acceptance/client/until.ts'
import { openStreamFixture, type StreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { KeyAllowances } from '../connection/allowance.ts'
import { type Caller, Connection, type ConnectionDeps, StreamSocket } from '../connection/connection.ts'
import { Throttle } from './throttle.ts'

let fixture: StreamFixture
beforeAll(async () => {
  fixture = await openStreamFixture()
})
afterAll(() => fixture.close())

const connect = async () => fixture.connect((await fixture.issue()).secret)

/** Each of ten messages costs eleven: the fifth begins with six left, and the others are answered later. */
async function expectFiveOfTen(socket: Awaited<ReturnType<typeof connect>>): Promise<void> {
  const answers = () => socket.messages.filter(({ type }) => type === 'subscribed').length
  await until('the first answers', () => answers() === 5)
  await fixture.clock.advance(100)
  expect(answers()).toBe(5)
  await fixture.clock.advance(3_000)
  await until('all', () => answers() === 10)
}

describe('a client that sends faster than fifty messages a second', () => {
  test('gets fifty answers a second, in order, and no message is lost', async () => {
    const socket = await connect()
    for (let n = 0; n < 300; n++) socket.send({ action: 'unsubscribe', symbols: [String(n)] })
    const answers = () => socket.messages.filter(({ type }) => type === 'unsubscribed').length
    await until('the first fifty', () => answers() === 50)
    for (let second = 1; second <= 5; second++) {
      await fixture.clock.advance(1_000)
      await until('fifty more', () => answers() >= (second + 1) * 50 - 5)
      expect(answers()).toBeLessThanOrEqual((second + 1) * 50)
    }
    await fixture.clock.advance(1_000)
    await until('all', () => answers() === 300)
    const order = socket.messages.slice(1).map(({ symbols }) => (symbols as string[])[0])
    expect(order).toEqual(Array.from({ length: 300 }, (_, n) => String(n)))
  })

  test('uses the allowance of one message per hundred entries of a list', async () => {
    const socket = await connect()
    const symbols = Array.from({ length: 1_000 }, (_, n) => `X:${n}`)
    for (let n = 0; n < 10; n++) socket.send({ action: 'subscribe', symbols })
    await expectFiveOfTen(socket)
  })

  test('uses the same allowance for times as for symbols', async () => {
    const socket = await connect()
    const symbols = Array.from({ length: 500 }, (_, n) => `X:${n}`)
    const since = Object.fromEntries(symbols.map((symbol) => [symbol, 1]))
    for (let n = 0; n < 10; n++) socket.send({ action: 'subscribe', symbols, since })
    await expectFiveOfTen(socket)
  })

  test('uses more allowance for a long text, even without entries', async () => {
    const socket = await connect()
    for (let n = 0; n < 5; n++) socket.send({ action: 'ping', padding: 'x'.repeat(60_000) })
    await until('the first answers', () => socket.frames.length === 3)
    await fixture.clock.advance(100)
    expect(socket.frames.length).toBe(3)
    await fixture.clock.advance(5_000)
    await until('all', () => socket.frames.length === 6)
  })

  test('is not read while it waits: its queue is limited', async () => {
    const socket = await connect()
    const padding = 'x'.repeat(900)
    const flood = () => {
      while (socket.raw.bufferedAmount < 1_000_000) socket.send({ action: 'ping', padding })
    }
    flood()
    await until('the connection to be clogged', async () => {
      flood()
      const before = socket.raw.bufferedAmount
      await new Promise((resolve) => setTimeout(resolve, 50))
      return socket.raw.bufferedAmount === before
    })
    expect(socket.messages.length).toBeLessThan(60)
    socket.raw.terminate()
  })

  test('gets all answers to 50 s of messages, and is read normally afterwards', async () => {
    const socket = await connect()
    for (let n = 0; n < 2_500; n++) socket.send({ action: 'ping' })
    await until('the first answers', () => socket.frames.length > 40)
    await until('all answers', async () => {
      await fixture.clock.advance(1_000)
      return socket.frames.length === 2_501
    })
    expect(socket.raw.readyState).toBe(socket.raw.OPEN)
    await fixture.clock.advance(1_000)
    for (let n = 0; n < 50; n++) socket.send({ action: 'ping' })
    await until('fifty more at once', () => socket.frames.length === 2_551)
  })

  test('is closed with 1008 after 60 s, and its slot is free', async () => {
    const { secret, inUse } = await fixture.issue()
    const { raw, closed } = await fixture.connect(secret)
    for (let n = 0; n < 20_000; n++) raw.send('{"action":"ping"}')
    const from = fixture.clock.monotonicMs()
    await until('the close', async () => {
      await fixture.clock.advance(1_000)
      return (await inUse()) === 0
    })
    const elapsedMs = fixture.clock.monotonicMs() - from
    expect(elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(elapsedMs).toBeLessThan(90_000)
    raw.terminate()
    await closed
    expect(await fixture.metric('fxd_stream_closes_total{code="1008"}')).toBe(1)
  })

  test('a flood of protocol pings is answered at least once and pauses the socket', async () => {
    const socket = await connect()
    const pongs: string[] = []
    socket.raw.on('pong', (data) => pongs.push(String(data)))
    for (let n = 0; n < 5_000; n++) socket.raw.ping(String(n))
    await until('a pong', () => pongs.length > 0)
    expect(await fixture.metric('fxd_stream_throttled_total')).toBeGreaterThan(0)
    await until('the last one', async () => {
      await fixture.clock.advance(1_000)
      return pongs.at(-1) === '4999'
    })
    expect(pongs.length).toBeLessThan(1_000)
  })

  test('a flood of protocol pongs pauses the socket', async () => {
    const socket = await connect()
    const before = await fixture.metric('fxd_stream_throttled_total')
    for (let n = 0; n < 5_000; n++) socket.raw.pong()
    socket.send({ action: 'ping' })
    await until('a pause', async () => (await fixture.metric('fxd_stream_throttled_total')) > before)
    expect(socket.frames).toHaveLength(1)
    await until('the answer', async () => {
      await fixture.clock.advance(1_000)
      return socket.frames.length === 2
    })
  })

  test('and continues after its socket was closed is not read, and gets the close frame', async () => {
    const { secret, inUse } = await fixture.issue()
    const { raw, closed } = await fixture.connect(secret)
    const pause = vi.spyOn(StreamSocket.prototype, 'pause')
    raw.send(Buffer.alloc(1))
    for (let n = 0; n < 5_000; n++) raw.ping()
    await until('a pause', () => pause.mock.calls.length > 0)
    pause.mockRestore()
    await until('the close frame', () => raw.readyState >= raw.CLOSING)
    expect(await inUse()).toBe(0)
    raw.terminate()
    expect(await closed).toMatchObject({ code: 1003 })
  })

  test('and disconnects frees its slot at once', async () => {
    const { secret, inUse } = await fixture.issue()
    const socket = await fixture.connect(secret)
    for (let n = 0; n < 500; n++) socket.send({ action: 'ping' })
    await until('the first answers', () => socket.frames.length > 40)
    socket.raw.terminate()
    await once(socket.raw, 'close')
    await expect.poll(inUse).toBe(0)
  })
})

describe('the sockets of a key', () => {
  const symbols = Array.from({ length: 4_900 }, (_, n) => `X:${n}`)

  test('share one allowance, and another key has its own', async () => {
    const { secret } = await fixture.issue()
    const sockets = await Promise.all(Array.from({ length: 60 }, () => fixture.connect(secret)))
    // Each costs as much as fifty messages: forty of them use the allowance of the key.
    for (const socket of sockets) socket.send({ action: 'subscribe', symbols })
    const answered = () => sockets.filter((socket) => socket.frames.length === 2).length
    await until('the allowance of the key is spent', () => answered() === 40)
    const other = await connect()
    other.send({ action: 'subscribe', symbols })
    await other.next('subscribed')
    expect(answered()).toBe(40)
    await fixture.clock.advance(500)
    await until('the rest', () => answered() === 60)
    for (const socket of sockets) socket.raw.terminate()
  })

  test('a socket that is not read because its key has no allowance is neither idle nor flooding', async () => {
    const clock = createVirtualClock()
    const throttle = new Throttle(
      clock,
      () => 0,
      () => undefined,
    )
    const socket = {
      readyState: WebSocket.OPEN,
      isPaused: false,
      pause: () => void (socket.isPaused = true),
      resume: () => void (socket.isPaused = false),
      close: vi.fn<() => void>(),
    }
    const host = { keyAllowance: (id: string) => throttle.entered(id), now: () => clock.monotonicMs() }
    const connection = new Connection(
      { key: { id: 'a' }, digest: '', address: '', sessionId: '' } as unknown as Caller,
      0,
      socket as unknown as StreamSocket,
      new PassThrough(),
      host as unknown as ConnectionDeps,
    )
    connection.keyAllowance.spend(1_000_000, clock.monotonicMs())
    for (let n = 0; n < 1_000; n++) throttle.message(connection, '{"action":"ping"}')
    expect(socket.isPaused).toBe(true)
    await clock.advance(70_000)
    expect(clock.monotonicMs() - connection.lastSeen).toBeLessThan(1_000)
    expect(socket.close).not.toHaveBeenCalled()
    throttle.close()
  })

  test('a key without sockets is forgotten once its allowance is full', async () => {
    const clock = createVirtualClock()
    const keys = new KeyAllowances(clock, 100)
    keys.open('a').spend(150, clock.monotonicMs())
    keys.open('a')
    keys.close('a')
    keys.close('a')
    expect(keys.size).toBe(1)
    expect(keys.open('a').left(clock.monotonicMs())).toBe(-50)
    keys.close('a')
    await clock.advance(1_500)
    expect([keys.size, clock.pending]).toEqual([0, 0])
  })
})

describe('messages of many sockets that arrive together', () => {
  const long = 'x'.repeat(1_100)

  /** A throttle whose messages take 4 ms each; `answered` names keys in the order of the answers. */
  function busy() {
    const clock = createVirtualClock()
    const turns: (() => void)[] = []
    const answered: string[] = []
    const throttle = new Throttle(
      { ...clock, soon: (run) => void turns.push(run) },
      ({ key }) => {
        answered.push(key.id)
        clock.freezeFor(4)
        return 0
      },
      () => undefined,
    )
    const host = { keyAllowance: (keyId: string) => throttle.entered(keyId), now: () => clock.monotonicMs() }
    const socket = { readyState: WebSocket.OPEN, isPaused: false }
    const socketOf = (id: string): Connection => {
      const caller = { key: { id }, digest: '', address: '', sessionId: '' } as unknown as Caller
      return new Connection(
        caller,
        0,
        socket as unknown as StreamSocket,
        new PassThrough(),
        host as unknown as ConnectionDeps,
      )
    }
    const nextTurn = (): void => {
      for (const run of turns.splice(0)) run()
    }
    return { throttle, answered, socketOf, nextTurn }
  }

  test('take a limited time of each turn of the event loop', () => {
    const { throttle, answered, socketOf, nextTurn } = busy()
    for (let n = 0; n < 6; n++) throttle.message(socketOf('a'), long)
    expect(answered).toHaveLength(2)
    nextTurn()
    expect(answered).toHaveLength(4)
    nextTurn()
    expect(answered).toHaveLength(6)
  })

  test('are answered one of each key alternately', () => {
    const { throttle, answered, socketOf, nextTurn } = busy()
    for (let n = 0; n < 6; n++) throttle.message(socketOf('a'), long)
    throttle.message(socketOf('b'), long)
    nextTurn()
    expect(answered).toEqual(['a', 'a', 'a', 'b'])
  })

  test('short ones take a limited time of a turn too', () => {
    const { throttle, answered, socketOf, nextTurn } = busy()
    for (let n = 0; n < 10; n++) throttle.message(socketOf('a'), '{"action":"ping"}')
    expect(answered).toHaveLength(5)
    throttle.message(socketOf('b'), '{"action":"ping"}')
    nextTurn()
    expect(answered.slice(5)).toEqual(['a', 'b'])
  })

  test('short ones do not wait for long ones', () => {
    const { throttle, answered, socketOf } = busy()
    for (let n = 0; n < 6; n++) throttle.message(socketOf('a'), long)
    throttle.message(socketOf('b'), '{"action":"ping"}')
    expect(answered).toEqual(['a', 'a', 'b'])
  })
})
