import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Liveness } from './liveness.ts'

const feed = 'A:B'
const live = { status: 'live', liveness_source: 'heartbeat' } as const
beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => vi.useRealTimers())
/** Verdicts of a client that connected two minutes ago. */
const connected = (): Liveness => {
  const liveness = new Liveness()
  liveness.opened()
  vi.advanceTimersByTime(120_000)
  return liveness
}
const verdict = (liveness: Liveness, isReading = true, isSound = true) =>
  liveness.verdicts(isReading, isSound)[feed]

test('a feed is live while its minutes have bars, and quiet when a minute had none', () => {
  const liveness = connected()
  liveness.status(feed, live)
  expect(verdict(liveness)).toBe('quiet')
  liveness.bar(feed)
  expect(verdict(liveness)).toBe('live')
  liveness.minute(feed)
  expect(verdict(liveness)).toBe('live')
  liveness.minute(feed)
  expect(verdict(liveness)).toBe('quiet')
})

test('without a bar the verdict is unknown until the connection is old enough for a whole minute, also after a reconnect', () => {
  const liveness = new Liveness()
  liveness.opened()
  liveness.status(feed, live)
  vi.advanceTimersByTime(119_000)
  liveness.minute(feed)
  expect(verdict(liveness)).toBe('unknown')
  expect(verdict(liveness, true, false)).toBe('dead')
  liveness.opened()
  vi.advanceTimersByTime(1_000)
  expect(verdict(liveness)).toBe('quiet')
})

test('a feed without a bar for two minutes before the client began is quiet at once', () => {
  const liveness = new Liveness()
  const feeds = { [feed]: { ...live, symbol_count: 1, last_candle_age_seconds: 172_800 } }
  liveness.began({ status: 'ok', server_time: 0, feeds })
  liveness.opened()
  liveness.status(feed, live)
  expect(verdict(liveness)).toBe('quiet')
})

test('a bar tells that a feed is live as soon as it comes', () => {
  const liveness = new Liveness()
  liveness.opened()
  liveness.status(feed, live)
  liveness.bar(feed)
  expect(verdict(liveness)).toBe('live')
})

test('a feed is dead without a sound socket, or when the service says so', () => {
  const liveness = new Liveness()
  liveness.status(feed, live)
  liveness.bar(feed)
  expect(verdict(liveness, true, false)).toBe('dead')
  liveness.status(feed, { ...live, status: 'stale' })
  expect(verdict(liveness)).toBe('dead')
})

test('the verdict is unknown without a heartbeat, without a status, and while nothing is read', () => {
  const liveness = new Liveness()
  liveness.bar(feed)
  expect(verdict(liveness)).toBe('unknown')
  liveness.status(feed, { status: 'offline', liveness_source: 'candle' })
  expect(verdict(liveness)).toBe('unknown')
  liveness.status(feed, live)
  expect(verdict(liveness, false, false)).toBe('unknown')
})
