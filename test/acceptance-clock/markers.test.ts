import { afterEach, expect, test } from 'vitest'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { ask } from '../acceptance/client/http.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { closeSockets, connect } from '../acceptance/client/socket.ts'
import { ClockedService } from './clocked-service.ts'

const noon = Date.UTC(2026, 0, 5, 12)
/** Noon on the feed's clock, three hours ahead of UTC, in seconds. */
const feedNoon = noon / 1000 + 10_800

let service: ClockedService
afterEach(async () => {
  closeSockets()
  await service.end()
})

test('a followed folder causes a minute frame when the settling time after the first line of the minute ends', async () => {
  service = await ClockedService.start(noon)
  const { key } = await issueKey()
  const bars = minutes(feedNoon - 600, 13, 150, 3)
  const [first, second] = [bars[10], bars[11]] as [Bar, Bar]
  const file = new FollowedFile('brokera-zero', 'USDJPY.z_M1.csv')
  const quiet = new FollowedFile('brokera-zero', 'EURUSD.z_M1.csv')
  file.write(bars.slice(0, 10))
  quiet.write(minutes(feedNoon - 600, 10, 1.1, 5))
  const symbols = ['BROKERA:ZERO:USDJPY', 'BROKERA:ZERO:EURUSD']
  for (const symbol of symbols)
    await service.eventually(`history of ${symbol}`, async () => {
      const history = await readHistory(key, { symbol, resolution: '1', countback: 100 })
      return barsOf(history).length === 10
    })
  const socket = await connect(key)
  socket.send({ action: 'subscribe', symbols, type: 'bar', markers: true })
  await socket.next('subscribed')
  /** Moves the clock; pings every 30 s keep the socket open. */
  const passTo = async (moment: number): Promise<void> => {
    while (service.now < moment) {
      await service.pass(Math.min(30, (moment - service.now) / 1000))
      await socket.settled()
    }
  }
  const markers = () => socket.messages.filter(({ type }) => type === 'minute')

  await passTo(noon + 61_000)
  file.append(first)
  await service.eventually('the first minute', () => socket.bars().length === 1)
  await passTo(noon + 70_000)
  expect(markers()).toEqual([])
  await service.eventually('its marker', () => markers().length === 1)
  expect(markers()).toEqual([{ type: 'minute', feed: 'BROKERA:ZERO', time: first.time }])

  await passTo(noon + 121_000)
  file.append(second)
  await service.eventually('the marker of the second minute', () => markers().length === 2)
  expect(markers().at(-1)).toEqual({ type: 'minute', feed: 'BROKERA:ZERO', time: second.time })
  expect(socket.messages.map(({ type }) => type).filter((type) => type !== 'pong')).toEqual([
    'connected',
    'subscribed',
    'bar',
    'minute',
    'bar',
    'minute',
  ])

  await passTo(noon + 400_000)
  expect(markers()).toHaveLength(2)
  const { body } = await ask<{ coverage: object }>(`/v1/coverage?symbol=${symbols[0]}`, { key })
  expect(body.coverage).toEqual([{ from: feedNoon - 600, to: second.time }])
})
