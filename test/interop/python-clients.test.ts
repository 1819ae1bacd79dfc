import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { ask, read } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { target } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'
import { endForeignProcesses, ForeignProcess, type Line, python } from './foreign-process.ts'
import { columns, discardStubs, openCollector, openSession } from './python-collector.ts'

const feed = 'BROKERE:LIVE'

let interpreter = ''
let key = ''
beforeAll(async () => {
  interpreter = python()
  key = (await issueKey()).key
}, 300_000)
afterEach(endForeignProcesses)
afterAll(discardStubs)

const streamClient = (secret: string) =>
  new ForeignProcess(interpreter, 'stream.py', [`${target().ws}/v1/stream?api_key=${secret}`])
const has = (field: string) => (line: Line) => field in line
const ofType = (type: string) => (line: Line) => line['type'] === type

const bar = (time: number, price: number, volume: number) => ({
  time,
  open: price / 1e5,
  high: (price + 9) / 1e5,
  low: (price - 4) / 1e5,
  close: (price + 3) / 1e5,
  volume,
})

const lastMinute = () => Math.floor(Date.now() / 60_000) * 60

describe('a collector written in Python', () => {
  test('it gets a Welcome, lists a symbol, and its acknowledged bars are in history', async () => {
    const { terminal, welcome, catalogued } = await openSession(feed, 'PYEUR')
    expect(welcome).toMatchObject({ active: true })
    expect(catalogued['names']).toMatchObject([{ raw: 'PYEUR', symbol: 'PYEUR' }])
    const times = [20, 19, 17].map((back) => lastMinute() - back * 60)
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [columns('PYEUR', times, 110_000)] } })
    const { ack } = (await terminal.next('Ack', has('ack'))) as { ack: Line }
    expect(ack).toEqual({ sequence: '1', accepted: 3 })
    terminal.send({
      window: { sequence: 2, symbol: 'PYEUR', resolution: '1', from: times[0], to: lastMinute() },
    })
    expect((await terminal.next('Ack', has('ack')))['ack']).toMatchObject({ sequence: '2' })
    const symbol = `${feed}:PYEUR`
    const got = await readHistory(key, { symbol, resolution: '1', countback: 10 })
    expect(barsOf(got)).toEqual(times.map((time, at) => bar(time, 110_000 + at * 10, 50 + at)))
    const { coverage } = await read<{ coverage: object }>(`/v1/coverage?symbol=${symbol}`, key)
    expect(coverage).toEqual([{ from: times[0], to: times[2] }])
  })

  test('minutes that its terminal did not answer for are a gap, answered minutes without a bar are not', async () => {
    const { terminal } = await openSession(feed, 'PYGAP')
    const times = [40, 38, 30, 29].map((back) => lastMinute() - back * 60)
    const [first = 0, second = 0, third = 0, fourth = 0] = times
    terminal.send({
      bars: { sequence: 1, lane: 'LANE_BACKFILL', series: [columns('PYGAP', times, 115_000)] },
    })
    await terminal.next('Ack', has('ack'))
    const answered = [
      [first, second + 60],
      [third - 60, fourth + 60],
    ]
    for (const [at, [from, to]] of answered.entries()) {
      terminal.send({ window: { sequence: at + 2, symbol: 'PYGAP', resolution: '1', from, to } })
      await terminal.next('Ack', has('ack'))
    }
    const { coverage } = await read<{ coverage: object }>(`/v1/coverage?symbol=${feed}:PYGAP`, key)
    expect(coverage).toEqual([
      { from: first, to: second },
      { from: third, to: fourth },
    ])
  })

  test('a window of its whole catalogue is in coverage once it is acknowledged', async () => {
    const { terminal } = await openSession(feed, 'PYWIDE')
    const times = [9, 8, 5].map((back) => lastMinute() - back * 60)
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [columns('PYWIDE', times, 118_000)] } })
    await terminal.next('Ack', has('ack'))
    terminal.send({ window: { sequence: 2, resolution: '1', from: times[0], to: lastMinute() } })
    await terminal.next('Ack', has('ack'))
    const { coverage } = await read<{ coverage: object }>(`/v1/coverage?symbol=${feed}:PYWIDE`, key)
    expect(coverage).toEqual([{ from: times[0], to: times[2] }])
  })

  test('bars before Catalogued, a sequence gap, absent digits and a window of 1970 are refused with a reason, without Ack', async () => {
    const terminal = openCollector()
    terminal.send({ hello: { feed, collectorId: 'python-hasty', mode: 'SESSION_MODE_LIVE' } })
    const { welcome } = (await terminal.next('Welcome', has('welcome'))) as { welcome: Line }
    expect(welcome['resolutions']).not.toContain('30')
    const series = [columns('PYHASTY', [lastMinute() - 60], 119_000)]
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series } })
    const refusal = async (): Promise<unknown> => {
      const { refused } = (await terminal.next('Refused', has('refused'))) as { refused: { bars: Line[] } }
      return refused.bars[0]
    }
    expect(await refusal()).toMatchObject({ reason: 'REFUSAL_REASON_NOT_CATALOGUED' })
    const symbols = [{ raw: 'PYHASTY', digits: 5 }, { raw: 'PYNODIGITS' }]
    terminal.send({ catalogue: { revision: 1, snapshot: true, last: true, symbols } })
    const { catalogued } = (await terminal.next('Catalogued', has('catalogued'))) as { catalogued: Line }
    expect(catalogued['refused']).toEqual([
      { raw: 'PYNODIGITS', reason: 'digits: got nothing, wanted 0 to 10' },
    ])
    terminal.send({ bars: { sequence: 2, lane: 'LANE_LIVE', series } })
    expect(await refusal()).toMatchObject({ reason: 'REFUSAL_REASON_SEQUENCE' })
    expect(terminal.lines.some(has('ack'))).toBe(false)
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series } })
    expect((await terminal.next('Ack', has('ack')))['ack']).toMatchObject({ sequence: '1', accepted: 1 })
    terminal.send({ window: { sequence: 2, symbol: 'PYHASTY', resolution: '1', from: 0, to: 60 } })
    expect(await refusal()).toMatchObject({ message: expect.stringContaining('a window of 1970') as unknown })
    terminal.send({})
    const { error } = (await terminal.next('an error', has('error'))) as { error: Line }
    expect(error['details']).toContain('no message set')
  })

  test('its heartbeat makes the feed live, with the source heartbeat', async () => {
    const { terminal } = await openSession(feed, 'PYBEAT')
    terminal.send({ heartbeat: { terminalConnected: true } })
    await until('a live feed', async () => {
      const { feeds } = await read<{ feeds: Record<string, object> }>('/v1/status', key)
      expect(feeds[feed]).toMatchObject({ status: 'live', liveness_source: 'heartbeat' })
      return true
    })
  })

  test('bars of prices below zero are stored as they are', async () => {
    const { terminal } = await openSession(feed, 'PYOIL')
    const times = [12, 11].map((back) => lastMinute() - back * 60)
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [columns('PYOIL', times, -3_763_000)] } })
    expect((await terminal.next('Ack', has('ack')))['ack']).toMatchObject({ accepted: 2 })
    const got = await readHistory(key, { symbol: `${feed}:PYOIL`, resolution: '1', countback: 10 })
    expect(barsOf(got)).toEqual(times.map((time, at) => bar(time, -3_763_000 + at * 10, 50 + at)))
  })

  test('an impossible bar is refused by series, index and reason, the other bars are stored', async () => {
    const { terminal } = await openSession(feed, 'PYBAD')
    const times = [12, 11, 10].map((back) => lastMinute() - back * 60)
    const series = columns('PYBAD', times, 120_000)
    const offGrid = { ...series, time: [times[0], 61, 59] }
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [offGrid] } })
    const { refused } = (await terminal.next('Refused', has('refused'))) as { refused: { bars: Line[] } }
    expect(refused.bars).toHaveLength(1)
    expect(refused.bars[0]).toMatchObject({ index: 1, reason: 'REFUSAL_REASON_OFF_GRID' })
    const symbol = `${feed}:PYBAD`
    const stored = async () => barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10 }))
    await until('the good bars', async () => (await stored()).length === 2)
    expect((await stored()).map(({ time }) => time)).toEqual([times[0], times[2]])
  })

  test('a message above 256 KiB ends its session; a later session is accepted', async () => {
    const { terminal } = await openSession(feed, 'PYBIG')
    terminal.send({ hello: { feed, collectorId: 'x'.repeat(300_000) } })
    const { error } = (await terminal.next('an error', has('error'))) as { error: Line }
    expect(error['code']).toBe('RESOURCE_EXHAUSTED')
    expect((await openSession(feed, 'PYNEXT')).welcome).toMatchObject({ active: true })
  })

  test('a session with a wrong token is refused', async () => {
    const terminal = openCollector('0'.repeat(32))
    terminal.send({ hello: { feed, collectorId: 'python-stranger', mode: 'SESSION_MODE_LIVE' } })
    const { error } = (await terminal.next('an error', has('error'))) as { error: Line }
    expect(error['code']).toBe('UNAUTHENTICATED')
  })
})

describe('a name with spaces', () => {
  const name = 'Volatility 75 (1s) Index'
  const symbol = `${feed}:${name}`

  test('is listed, and its bars are in history, coverage and pushes', async () => {
    const { terminal, catalogued } = await openSession(feed, name)
    expect(catalogued['names']).toMatchObject([{ raw: name, symbol: name }])
    const socket = streamClient(key)
    await socket.next('connected', ofType('connected'))
    await until('the symbol', async () => {
      const query = new URLSearchParams({ symbol })
      return (await ask(`/v1/symbols?${query.toString()}`, { key })).status === 200
    })
    socket.send({ action: 'subscribe', symbols: [symbol], type: 'bar' })
    expect(await socket.next('subscribed', ofType('subscribed'))).toMatchObject({ symbols: [symbol] })
    const time = lastMinute() - 300
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [columns(name, [time], 140_000)] } })
    expect(await socket.next('bar', ofType('bar'))).toEqual({
      type: 'bar',
      symbol,
      bar: bar(time, 140_000, 50),
    })
    await terminal.next('Ack', has('ack'))
    terminal.send({ window: { sequence: 2, symbol: name, resolution: '1', from: time, to: time + 60 } })
    await terminal.next('Ack', has('ack'))

    const clients = [`symbol=${feed.replace(':', '%3A')}%3AVolatility+75+%281s%29+Index`]
    clients.push(clients[0] as string, (clients[0] as string).replaceAll('+', '%20'))
    const answers = async (path: string, more: object = {}) => {
      const client = new ForeignProcess(interpreter, 'query.py', [`${target().url}/v1/${path}`, key])
      client.send({ symbol, ...more })
      const lines: Line[] = []
      for (const _ of clients) lines.push(await client.next('an answer', has('query')))
      client.end()
      expect(lines.map((line) => String(line['query']).split('&')[0])).toEqual(clients)
      return lines.map((line) => line['body'])
    }
    for (const body of await answers('symbols')) expect(body).toMatchObject({ symbol, display_symbol: name })
    for (const body of await answers('coverage')) {
      expect(body).toMatchObject({ coverage: [{ from: time, to: time }] })
    }
    for (const body of await answers('history', { resolution: '1', countback: 5 })) {
      expect(barsOf(body as Parameters<typeof barsOf>[0])).toEqual([bar(time, 140_000, 50)])
    }
    const { symbols } = await read<{ symbols: Line[] }>(
      `/v1/symbols?${new URLSearchParams({ search: 'lity 75 (1s) i' }).toString()}`,
      key,
    )
    expect(symbols).toMatchObject([{ symbol }])
  })
})

describe('a WebSocket client written in Python', () => {
  test('it subscribes and receives the bar that a collector written in Python sent', async () => {
    const { terminal } = await openSession(feed, 'PYLIVE')
    const symbol = `${feed}:PYLIVE`
    await until('the symbol', async () => (await ask(`/v1/symbols?symbol=${symbol}`, { key })).status === 200)
    const socket = streamClient(key)
    await socket.next('connected', ofType('connected'))
    socket.send({ action: 'subscribe', symbols: [symbol, 'BROKERA:PRIME:EURUSD'], type: 'bar' })
    const reply = await socket.next('subscribed', ofType('subscribed'))
    expect(reply).toEqual({ type: 'subscribed', symbols: [symbol], rejected: ['BROKERA:PRIME:EURUSD'] })
    const time = lastMinute() - 300
    terminal.send({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [columns('PYLIVE', [time], 130_000)] } })
    const pushed = await socket.next('bar', ofType('bar'))
    expect(pushed).toEqual({ type: 'bar', symbol, bar: bar(time, 130_000, 50) })
    const got = await readHistory(key, { symbol, resolution: '1', from: time, to: time })
    expect(barsOf(got)).toEqual([pushed['bar']])
    socket.send({ action: 'ping' })
    expect(await socket.next('pong', ofType('pong'))).toMatchObject({ type: 'pong' })
    socket.end()
    expect(await socket.next('the close', has('closed'))).toMatchObject({ closed: 1000 })
  })

  test('a refused upgrade has the HTTP status and the error body', async () => {
    const socket = streamClient(`fxd_${'0'.repeat(32)}`)
    const refusal = await socket.next('a refusal', has('refused'))
    expect(refusal).toMatchObject({ refused: 401, body: { error: { code: 'KEY_INVALID' } } })
  })
})
