import { afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type Bar, fold, minutes } from './client/bars.ts'
import { minutesAgo } from './client/clocks.ts'
import { barsOf, readHistory } from './client/history.ts'
import { read } from './client/http.ts'
import { FollowedFile } from './client/input.ts'
import { issueKey } from './client/keys.ts'
import { type BarMessage, closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
afterEach(closeSockets)

const history = async (symbol: string) =>
  barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10_000 }))

/** A separate series for one test: ten bars are stored, `coming` are appended later. */
const series = async (feed: 'BROKERA:ZERO' | 'BROKERB:LIVE', raw: string, price: number, digits: number) => {
  const symbol = `${feed}:${raw.replace(/\.z$/, '')}`
  const bars = minutes(minutesAgo(feed, 100), 60, price, digits)
  const file = new FollowedFile(feed === 'BROKERA:ZERO' ? 'brokera-zero' : 'brokerb-live', `${raw}_M1.csv`)
  file.write(bars.slice(0, 10))
  await until(`the first bars of ${symbol}`, async () => (await history(symbol)).length === 10)
  return { symbol, file, bars, coming: bars.slice(10) }
}

describe('a closed minute', () => {
  test('a closed minute is pushed as one text frame, its fields in the order of the specification', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'USDJPY.z', 150, 3)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    const message = await socket.next<BarMessage>('bar')
    expect(Object.keys(message)).toEqual(['type', 'symbol', 'bar'])
    expect(Object.keys(message.bar)).toEqual(['time', 'open', 'high', 'low', 'close', 'volume'])
    expect(message).toEqual({ type: 'bar', symbol, bar: coming[0] })
    expect(socket.frames.at(-1)).toBe(JSON.stringify(message))
  })

  test('prices below zero are stored, pushed and folded as the terminal wrote them', async () => {
    const { symbol, file, bars, coming } = await series('BROKERA:ZERO', 'US500.z', -0.15, 2)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    expect((await socket.next<BarMessage>('bar')).bar).toEqual(coming[0])
    file.append(...coming.slice(1))
    await until('all bars', async () => (await history(symbol)).length === bars.length)
    expect(await history(symbol)).toEqual(bars)
    expect(bars.some(({ open }) => open === 0) && bars.some(({ open }) => open < 0)).toBe(true)
    const halves = fold(bars, 1_800).filter(
      ({ time }) => time >= (bars[0]?.time ?? 0) && time + 1_800 <= (bars.at(-1)?.time ?? 0),
    )
    const got = await readHistory(key, { symbol, resolution: '30', countback: 10 })
    expect(barsOf(got)).toEqual(expect.arrayContaining(halves))
  })

  test('a pushed bar equals the bar of history, which has it at once', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'EURJPY.z', 160, 3)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    for (const bar of coming.slice(0, 5)) {
      file.append(bar)
      const message = await socket.next<BarMessage>('bar')
      const got = await readHistory(key, {
        symbol,
        resolution: '1',
        from: message.bar.time,
        to: message.bar.time,
      })
      expect(barsOf(got)).toEqual([message.bar])
      expect(message.bar).toEqual(bar)
    }
  })

  test("a pushed time is on the feed's clock: three hours ahead of UTC on a broker-time feed", async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'CADJPY.z', 110, 3)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    const { bar } = await socket.next<BarMessage>('bar')
    expect(bar.time).toBe(coming[0]?.time)
    expect(bar.time - 10_800).toBeLessThan(Date.now() / 1000)
    expect(bar.time - 10_800).toBeGreaterThan(Date.now() / 1000 - 7200)
  })

  test('a pushed time is UTC on a true-UTC feed', async () => {
    const { symbol, file, coming } = await series('BROKERB:LIVE', 'GBPUSD', 1.25, 5)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    const { bar } = await socket.next<BarMessage>('bar')
    expect(bar.time).toBe(coming[0]?.time)
    expect(bar.time).toBeLessThan(Date.now() / 1000)
    expect(bar.time).toBeGreaterThan(Date.now() / 1000 - 7200)
  })

  test('on a mid-quoted feed a price may carry half a unit of the last digit', async () => {
    const { symbol, file, coming } = await series('BROKERB:LIVE', 'EURUSD', 1.1, 5)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    const half: Bar = { ...(coming[0] as Bar), close: 1.100125, high: 1.100295 }
    file.append(half)
    expect((await socket.next<BarMessage>('bar')).bar).toEqual(half)
    expect((await history(symbol)).at(-1)).toEqual(half)
  })

  test('on a bid-quoted feed a line with half a unit of the last digit is not stored', async () => {
    const { symbol, file, bars, coming } = await series('BROKERA:ZERO', 'AUDUSD.z', 0.66, 5)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append({ ...(coming[0] as Bar), close: 0.660125 }, coming[1] as Bar)
    expect((await socket.next<BarMessage>('bar')).bar).toEqual(coming[1])
    expect(await history(symbol)).toEqual([...bars.slice(0, 10), coming[1]])
  })

  test('a symbol with a dot and a lower-case share class is pushed under its own name', async () => {
    const { symbol, file, coming } = await series('BROKERB:LIVE', 'BRKb_CFD.US', 430, 2)
    const socket = await connect(key)
    await socket.subscribe([symbol, 'BROKERB:LIVE:BRKB_CFD.US'])
    file.append(coming[0] as Bar)
    expect(await socket.next('bar')).toMatchObject({ symbol: 'BROKERB:LIVE:BRKb_CFD.US' })
    await socket.settled()
    expect(socket.bars()).toHaveLength(1)
  })
})

describe('on one socket', () => {
  test('the bars of a symbol arrive once and in time order, none missing', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'GBPUSD.z', 1.3, 5)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    for (let index = 0; index < 50; index += 5) file.append(...coming.slice(index, index + 5))
    await until('the last bar', () => socket.bars(symbol).at(-1)?.bar.time === coming.at(-1)?.time)
    expect(socket.bars(symbol).map(({ bar }) => bar)).toEqual(coming)
  })

  test('a correction appears in history and is never pushed', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'XAUUSD.z', 2400, 2)
    const socket = await connect(key)
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    await socket.next('bar')
    const corrected = { ...(coming[0] as Bar), close: 2400.06, volume: 9 }
    file.append(corrected, coming[1] as Bar)
    await until('the next bar', () => socket.bars(symbol).length === 2)
    await until('the correction', async () => (await history(symbol)).at(-2)?.volume === 9)
    await socket.settled()
    expect(socket.bars(symbol).map(({ bar }) => bar)).toEqual(coming.slice(0, 2))
    expect((await history(symbol)).at(-2)).toEqual(corrected)
  })

  test('no bar is pushed for a symbol that is not, or no longer, subscribed', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'XAGUSD.z', 30, 3)
    const [other, unsubscribed, watcher] = await Promise.all([connect(key), connect(key), connect(key)])
    await other.subscribe(['BROKERA:ZERO:EURUSD'])
    await unsubscribed.subscribe([symbol])
    await watcher.subscribe([symbol])
    unsubscribed.send({ action: 'unsubscribe', symbols: [symbol] })
    await unsubscribed.next('unsubscribed')
    file.append(coming[0] as Bar)
    await watcher.next('bar')
    await Promise.all([other.settled(), unsubscribed.settled()])
    expect(other.bars()).toEqual([])
    expect(unsubscribed.bars()).toEqual([])
  })

  test('a bar of a symbol that was subscribed twice is pushed once', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'LTCUSD.z', 80, 2)
    const socket = await connect(key)
    await socket.subscribe([symbol, symbol])
    await socket.subscribe([symbol])
    file.append(coming[0] as Bar, coming[1] as Bar)
    await until('the second bar', () => socket.bars(symbol).at(-1)?.bar.time === coming[1]?.time)
    expect(socket.bars(symbol)).toHaveLength(2)
  })

  test('every subscriber gets the same bytes', async () => {
    const { symbol, file, coming } = await series('BROKERA:ZERO', 'DE40.z', 18_000, 1)
    const sockets = await Promise.all(Array.from({ length: 5 }, () => connect(key)))
    for (const socket of sockets) await socket.subscribe([symbol])
    file.append(coming[0] as Bar)
    await Promise.all(sockets.map((socket) => socket.next('bar')))
    const frames = sockets.flatMap((socket) => socket.frames.filter((text) => text.includes('"type":"bar"')))
    expect(frames).toHaveLength(sockets.length)
    expect(new Set(frames).size).toBe(1)
  })
})

test('a client that does not read is closed with 4001 and the others get every bar', async () => {
  const symbol = 'BROKERA:ZERO:CHFJPY'
  // Chunks of 0.7 MB, about ten are enough. How much the kernels buffer before 1 MB waits in the service varies.
  const [chunk, chunksMax] = [5_000, 60]
  const bars = minutes(minutesAgo('BROKERA:ZERO', chunksMax * chunk + 5_000), chunksMax * chunk + 10, 170, 3)
  const file = new FollowedFile('brokera-zero', 'CHFJPY.z_M1.csv')
  file.write(bars.slice(0, 10))
  await until('the first bars', async () => (await history(symbol)).length === 10)
  const { key: own } = await issueKey()
  const [slowReader, reader] = await Promise.all([connect(own), connect(key)])
  await Promise.all([slowReader.subscribe([symbol]), reader.subscribe([symbol])])
  slowReader.raw.pause()
  // Pings keep the sockets from being closed as idle.
  const beat = setInterval(() => {
    for (const socket of [slowReader, reader]) socket.send({ action: 'ping' })
  }, 20_000)
  onTestFinished(() => clearInterval(beat))
  const isOpen = async (): Promise<boolean> =>
    (await read<{ current: { ws_connections_in_use: number } }>('/v1/usage', own)).current
      .ws_connections_in_use > 0
  let count = 0
  while (count < chunksMax * chunk && (await isOpen())) {
    file.append(...bars.slice(10 + count, 10 + count + chunk))
    count += chunk
    await until(
      'all bars',
      () => {
        if (reader.raw.readyState !== reader.raw.OPEN)
          throw new Error(`closed after ${reader.frames.length} frames`)
        return reader.frames.filter((frame) => frame.startsWith('{"type":"bar"')).length === count
      },
      40_000,
    )
  }
  slowReader.raw.resume()
  expect(await slowReader.closed).toMatchObject({ code: 4001 })
  expect(reader.bars(symbol).map(({ bar }) => bar)).toEqual(bars.slice(10, 10 + count))
  const got = slowReader.bars(symbol).map(({ bar }) => bar)
  expect(got).toEqual(bars.slice(10, 10 + got.length))
  expect(got.length).toBeLessThan(count)
})

test('a bar of the simulator is pushed when its minute closes', { timeout: 90_000 }, async () => {
  const socket = await connect(key)
  await socket.subscribe(['BROKERG:SIM:BTCUSD'])
  const beat = setInterval(() => socket.send({ action: 'ping' }), 20_000)
  const message = await socket.next<BarMessage>('bar', 75_000)
  clearInterval(beat)
  expect(message.bar.time % 60).toBe(0)
  const got = await readHistory(key, { symbol: 'BROKERG:SIM:BTCUSD', resolution: '1', countback: 1 })
  expect(barsOf(got)).toEqual([message.bar])
})
