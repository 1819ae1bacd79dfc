import { afterEach, expect, test } from 'vitest'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { closeSockets, connect } from '../acceptance/client/socket.ts'
import { ClockedService } from './clocked-service.ts'

const noon = Date.UTC(2026, 0, 5, 12)

let service: ClockedService
afterEach(async () => {
  closeSockets()
  await service.end()
})

const stored = async (key: string, symbol: string, resolution = '1') =>
  barsOf(await readHistory(key, { symbol, resolution, countback: 100 }))

test('a minute is pushed and stored when it closes and not before', async () => {
  service = await ClockedService.start(noon)
  const { key } = await issueKey()
  const symbol = 'BROKERA:ZERO:USDJPY'
  const bars = minutes(noon / 1000 + 10_800 - 600, 11, 150, 3)
  new FollowedFile('brokera-zero', 'USDJPY.z_M1.csv').write(bars)
  await service.eventually('the closed minutes', async () => (await stored(key, symbol)).length === 10)
  const running = bars[10] as Bar
  expect(running.time).toBe(noon / 1000 + 10_800)
  const socket = await connect(key)
  await socket.subscribe([symbol])
  await service.passTo(noon + 58_000)
  await socket.settled()
  expect(socket.bars()).toEqual([])
  expect(await stored(key, symbol)).toEqual(bars.slice(0, 10))
  await service.passTo(noon + 62_000)
  await service.eventually('the pushed minute', () => socket.bars().length === 1)
  expect(socket.bars()[0]?.bar).toEqual(running)
  expect(await stored(key, symbol)).toEqual(bars)
})

test('a minute of a delayed symbol closes later by the delay of its quotes', async () => {
  service = await ClockedService.start(noon)
  const { key } = await issueKey()
  const symbol = 'BROKERB:LIVE:AAPL_CFD.US'
  const bars = minutes(noon / 1000 - 1200, 6, 300, 2)
  new FollowedFile('brokerb-live', 'AAPL_CFD.US_M1.csv').write(bars)
  await service.eventually('all but the last minute', async () => (await stored(key, symbol)).length === 5)
  const closes = ((bars[5]?.time ?? 0) + 60 + 900) * 1000
  expect(closes - noon).toBe(60_000)
  await service.passTo(closes - 2000)
  expect(await stored(key, symbol)).toEqual(bars.slice(0, 5))
  await service.passTo(closes + 2000)
  await service.eventually('the last minute', async () => (await stored(key, symbol)).length === 6)
})

test('a day appears in history when it ends on the clock of its feed', async () => {
  const midnight = Date.UTC(2026, 0, 5, 21)
  service = await ClockedService.start(midnight - 300_000)
  const { key } = await issueKey()
  const symbol = 'BROKERA:ZERO:US500'
  const day = (time: number): Bar => ({ time: time / 1000, open: 5, high: 6, low: 4, close: 5.5, volume: 9 })
  const days = [day(Date.UTC(2026, 0, 2)), day(Date.UTC(2026, 0, 5))]
  new FollowedFile('brokera-zero', 'US500.z_D1.csv').write(days)
  await service.eventually('the day before', async () => (await stored(key, symbol, '1D')).length === 1)
  await service.passTo(midnight - 2000)
  expect(await stored(key, symbol, '1D')).toEqual(days.slice(0, 1))
  await service.passTo(midnight + 2000)
  await service.eventually('the day', async () => (await stored(key, symbol, '1D')).length === 2)
  expect(await stored(key, symbol, '1D')).toEqual(days)
})
