import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../test/acceptance/client/until.ts'
import { type OpenedStream, openStream } from '../../test/support/open-stream.ts'

let house: OpenedStream
beforeAll(async () => {
  house = await openStream()
})
afterAll(() => house.close())

const connect = async () => house.connect((await house.issue()).secret)

describe('a client that sends faster than fifty messages a second', () => {
  test('is read at fifty a second, loses none and is answered in order', async () => {
    const socket = await connect()
    for (let n = 0; n < 300; n++) socket.send({ action: 'unsubscribe', symbols: [String(n)] })
    const answers = () => socket.messages.filter(({ type }) => type === 'unsubscribed').length
    await until('the first fifty', () => answers() === 50)
    for (let second = 1; second <= 5; second++) {
      await house.clock.advance(1_000)
      await until('fifty more', () => answers() >= (second + 1) * 50 - 5)
      expect(answers()).toBeLessThanOrEqual((second + 1) * 50)
    }
    await house.clock.advance(1_000)
    await until('all', () => answers() === 300)
    const order = socket.messages.slice(1).map(({ symbols }) => (symbols as string[])[0])
    expect(order).toEqual(Array.from({ length: 300 }, (_, n) => String(n)))
  })

  test('pays for long messages as for several', async () => {
    const socket = await connect()
    const symbols = Array.from({ length: 4_000 }, (_, n) => `X:Y:${n}`)
    for (let n = 0; n < 20; n++) socket.send({ action: 'subscribe', symbols })
    const answers = () => socket.messages.filter(({ type }) => type === 'subscribed').length
    await until('the first answers', () => answers() >= 8)
    expect(answers()).toBeLessThan(12)
    await house.clock.advance(3_000)
    await until('all', () => answers() === 20)
  })

  test('is not read any further meanwhile: what waits is bounded', async () => {
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

  test('is not idle while it waits, and is listened to as before afterwards', async () => {
    const socket = await connect()
    for (let n = 0; n < 4_000; n++) socket.send({ action: 'ping' })
    await until('the first answers', () => socket.frames.length > 40)
    await house.clock.advance(90_000)
    await until('all answers', () => socket.frames.length === 4_001)
    expect(socket.raw.readyState).toBe(socket.raw.OPEN)
    await house.clock.advance(1_000)
    for (let n = 0; n < 50; n++) socket.send({ action: 'ping' })
    await until('fifty more at once', () => socket.frames.length === 4_051)
  })

  test('a flood of protocol pings is answered at least once and paid for by a pause', async () => {
    const socket = await connect()
    const pongs: string[] = []
    socket.raw.on('pong', (data) => pongs.push(String(data)))
    for (let n = 0; n < 5_000; n++) socket.raw.ping(String(n))
    await until('a pong', () => pongs.length > 0)
    expect(await house.metric('fxd_stream_throttled_total')).toBeGreaterThan(0)
    for (let n = 0; n < 20 && pongs.at(-1) !== '4999'; n++) await house.clock.advance(1_000)
    await until('the last one', () => pongs.at(-1) === '4999')
    expect(pongs.length).toBeLessThan(1_000)
  })

  test('and leaves is seen to leave, and its slot is free at once', async () => {
    const { secret, inUse } = await house.issue()
    const socket = await house.connect(secret)
    for (let n = 0; n < 500; n++) socket.send({ action: 'ping' })
    await until('the first answers', () => socket.frames.length > 40)
    socket.raw.terminate()
    await once(socket.raw, 'close')
    await expect.poll(inUse).toBe(0)
  })
})
