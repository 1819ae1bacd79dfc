import { afterEach, beforeEach, expect, test } from 'vitest'
import { ask, rate, read } from '../acceptance/client/http.ts'
import { issueKey, rotateKey } from '../acceptance/client/keys.ts'
import { closeSockets, connect } from '../acceptance/client/socket.ts'
import { ClockedService } from './clocked-service.ts'

const dayMs = 86_400_000
const monday = Date.UTC(2026, 0, 5)

let service: ClockedService
beforeEach(async () => {
  service = await ClockedService.start(monday + dayMs - 600_000)
})
afterEach(async () => {
  closeSockets()
  await service.end()
})

interface Usage {
  today: Record<string, number>
  history: (Record<string, number> & { date: string })[]
}
const status = (key: string) => ask('/v1/status', { key })
const usage = (key: string, days: number) => read<Usage>(`/v1/usage?days=${days}`, key)

test('the minute window reopens at the next UTC minute', async () => {
  const { key } = await issueKey({ plan: 'basic', rpm: 2 })
  await service.passTo(monday + dayMs - 500_000)
  await status(key)
  await status(key)
  const refused = await status(key)
  expect(refused.status).toBe(429)
  const reset = rate(refused, 'X-RateLimit-Reset-Minute') * 1000
  expect(reset).toBe(monday + dayMs - 480_000)
  expect(Number(refused.headers['retry-after'])).toBe(20)
  await service.passTo(reset - 1000)
  expect((await status(key)).status).toBe(429)
  await service.passTo(reset)
  const again = await status(key)
  expect(again.status).toBe(200)
  expect(rate(again, 'X-RateLimit-Remaining-Minute')).toBe(1)
})

test('the day window reopens at midnight UTC', async () => {
  const { key } = await issueKey({ plan: 'basic', rpm: 100, rpd: 1 })
  await status(key)
  const refused = await status(key)
  expect(refused.headers['x-ratelimit-exceeded']).toBe('day')
  const wait = Number(refused.headers['retry-after'])
  expect(service.now + wait * 1000).toBeGreaterThanOrEqual(monday + dayMs)
  expect(service.now + wait * 1000).toBeLessThan(monday + dayMs + 1000)
  await service.passTo(monday + dayMs - 1000)
  expect((await status(key)).status).toBe(429)
  await service.passTo(monday + dayMs)
  expect(rate(await status(key), 'X-RateLimit-Remaining-Day')).toBe(0)
})

test('the counters of a past day appear in the history of usage', async () => {
  const { key } = await issueKey()
  await status(key)
  await status(key)
  await service.passTo(monday + dayMs + 60_000)
  const { today, history } = await usage(key, 3)
  expect(today).toMatchObject({ requests: 1, status: 0, usage: 1 })
  expect(history.map(({ date }) => date)).toEqual(['2026-01-04', '2026-01-05', '2026-01-06'])
  expect(history[1]).toMatchObject({ requests: 2, status: 2 })
  expect(history[2]).toMatchObject(today)
})

test('a session that lasts over midnight counts in ws_session of both days', async () => {
  const { key } = await issueKey()
  await service.passTo(monday + dayMs - 20_000)
  const socket = await connect(key)
  await socket.settled()
  await service.passTo(monday + dayMs + 30_000)
  await socket.settled()
  const { history } = await usage(key, 2)
  expect(history[0]).toMatchObject({ ws_connect: 1, ws_session: 1 })
  expect(history[1]).toMatchObject({ ws_connect: 0, ws_session: 1 })
})

test('usage reaches back 90 days', async () => {
  const { key } = await issueKey()
  await status(key)
  service = await service.again(monday + 89 * dayMs + 3_600_000)
  const { history } = await usage(key, 90)
  expect(history[0]).toMatchObject({ date: '2026-01-05', requests: 1, status: 1 })
  expect(history[89]).toMatchObject({ date: '2026-04-04', requests: 1, usage: 1 })
})

test('the old secret of a rotated key is accepted until the overlap ends', async () => {
  const made = await issueKey()
  await rotateKey(made.id, '10m')
  const end = service.now + 600_000
  await service.passTo(end - 5000)
  expect((await status(made.key)).status).toBe(200)
  await service.passTo(end + 5000)
  const answer = await status(made.key)
  expect(answer.status).toBe(401)
  expect(answer.body.error.code).toBe('KEY_INVALID')
})

test('an expiry date lasts to the end of its UTC day', async () => {
  const { key } = await issueKey({ expires: '2026-01-05' })
  const socket = await connect(key)
  await service.passTo(monday + dayMs - 590_000)
  for (let at = -540_000; at <= -1000; at += 49_000) {
    await service.passTo(monday + dayMs + at)
    await socket.settled()
  }
  expect((await status(key)).status).toBe(200)
  await service.passTo(monday + dayMs)
  expect((await status(key)).body.error.code).toBe('KEY_EXPIRED')
  await service.pass(5)
  expect((await socket.closed).code).toBe(4501)
})
