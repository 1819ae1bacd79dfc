import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { read } from '../acceptance/client/http.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { closeSockets, connect, type StreamSocket } from '../acceptance/client/socket.ts'
import { target } from '../acceptance/client/target.ts'
import { RawSession, seriesAt } from '../support/clients/raw-session.ts'
import { ClockedService } from './clocked-service.ts'

const feed = 'BROKERD:LIVE'
const gold = `${feed}:XAUUSD`
const both = [
  { raw: 'XAUUSD', digits: 5 },
  { raw: 'XAGUSD', digits: 5 },
]
const withoutGold = both.slice(1)

let service: ClockedService
let session: RawSession
beforeEach(async () => {
  service = await ClockedService.start(Date.UTC(2026, 0, 5, 12))
  await reconnect(both)
})
afterEach(async () => {
  closeSockets()
  await service.end()
})

/** Opens a new session of the collector, whose terminal lists these symbols. */
async function reconnect(symbols: typeof both): Promise<void> {
  await session?.close()
  session = new RawSession(target().grpc, readFileSync(target().token, 'utf8').trim())
  await session.hello(feed)
  await session.catalogue(symbols)
}

/** Moves the clock; the client sends a ping every 30 s so that its socket stays open. */
async function pass(seconds: number, socket: StreamSocket): Promise<void> {
  for (let left = seconds; left > 0; left -= 30) {
    await service.pass(Math.min(30, left))
    await socket.settled()
  }
}

/** Moves the clock past the next minute and sends its bar; returns the open time of the bar. */
async function closeMinute(socket: StreamSocket): Promise<number> {
  const minute = Math.floor(service.now / 60_000) * 60
  await pass(minute + 61 - service.now / 1000, socket)
  const { refused } = await session.bars('LIVE', [seriesAt('XAUUSD', [minute])])
  expect(refused).toEqual([])
  return minute
}

const barTimes = (socket: StreamSocket) => socket.bars(gold).map(({ bar }) => bar.time)
const others = (socket: StreamSocket) =>
  socket.messages.filter(({ type }) => !['connected', 'pong', 'bar'].includes(type)).slice(1)
const history = (key: string) =>
  read<{ s: string; t?: number[] }>(`/v1/history?symbol=${gold}&resolution=1&countback=10`, key)

test('a symbol that a new collector session lists 30 s late keeps its subscriptions and its history', async () => {
  const { key } = await issueKey({ feeds: [feed] })
  const socket = await connect(key)
  await socket.subscribe([gold])
  const first = await closeMinute(socket)
  await reconnect(withoutGold)
  await pass(30, socket)
  expect(await history(key)).toMatchObject({ s: 'ok', t: [first] })
  await session.catalogue(both)
  await pass(61, socket)
  const second = await closeMinute(socket)
  await service.eventually('the second bar', () => barTimes(socket).length === 2)
  expect(barTimes(socket)).toEqual([first, second])
  expect(await history(key)).toMatchObject({ s: 'ok', t: [first, second] })
  expect(others(socket)).toEqual([])
})

test('a symbol absent for more than a minute keeps its subscriptions, and returns after a GAP frame that names the absence', async () => {
  const { key } = await issueKey({ feeds: [feed] })
  const socket = await connect(key)
  await socket.subscribe([gold])
  const first = await closeMinute(socket)
  await reconnect(withoutGold)
  await pass(61, socket)
  await reconnect(both)
  await service.eventually('the return', () => others(socket).length === 1)
  const second = await closeMinute(socket)
  await service.eventually('the second bar', () => barTimes(socket).length === 2)
  expect(barTimes(socket)).toEqual([first, second])
  expect(others(socket)).toEqual([
    {
      type: 'error',
      code: 'GAP',
      message: expect.any(String) as string,
      gaps: [{ symbol: gold, after: first }],
    },
  ])
  expect(await history(key)).toMatchObject({ s: 'ok', t: [first, second] })
})
