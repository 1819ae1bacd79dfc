import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStreamFixture, type StreamFixture } from '../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { noticeMs } from '../core/drain.ts'
import { Draining } from './draining.ts'

/** Second 10 of a minute. */
const start = 1_767_600_010_000
let fixture: StreamFixture
const opened: StreamFixture[] = []

async function open(options: Parameters<typeof openStreamFixture>[0] = {}): Promise<StreamFixture> {
  fixture = await openStreamFixture({ start, ...options })
  opened.push(fixture)
  return fixture
}
beforeEach(() => open())
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()))
})

interface Closed {
  readonly code: number
  readonly reason: string
  /** Second of the minute, on the fixture's clock. */
  readonly second: number
}

async function connectMany(count: number): Promise<Closed[]> {
  const { secret } = await fixture.issue()
  const closed: Closed[] = []
  for (let i = 0; i < count; i++) {
    const socket = await fixture.connect(secret)
    void socket.closed.then((close) => closed.push({ ...close, second: (fixture.clock.utcMs() / 1000) % 60 }))
  }
  return closed
}

/** Advances the time in small steps, so that each close reaches its client before the next. */
async function pass(seconds: number, closed: readonly Closed[], total: number): Promise<void> {
  for (let i = 0; i < seconds * 4; i++) {
    await fixture.clock.advance(250)
    await expect.poll(() => closed.length + fixture.stream.load().connections).toBe(total)
  }
}

test('a drain closes sockets evenly with 1012, and none around the end of the minute', async () => {
  await open({ start: start + 20_000 })
  const closed = await connectMany(30)
  // From second 30 to second 15: 20 s after the notice and 7 s outside of the guard, a close about every second.
  const drained = fixture.stream.draining.start(45_000)
  await pass(4, closed, 30)
  expect(closed).toEqual([])
  await pass(13, closed, 30)
  expect(closed.length).toBeGreaterThan(8)
  expect(closed.length).toBeLessThan(16)
  await pass(7, closed, 30)
  const before = closed.length
  expect(before).toBeGreaterThan(20)
  await pass(14, closed, 30)
  expect(closed.length - before).toBeLessThanOrEqual(1)
  await pass(8, closed, 30)
  await drained
  expect(closed.length).toBe(30)
  expect(new Set(closed.map(({ code, reason }) => `${code} ${reason}`))).toEqual(new Set(['1012 draining']))
  expect(closed.filter(({ second }) => second >= 55.25 || second < 8)).toEqual([])
  expect(await fixture.metric('fxd_stream_drain_forced_closes_total')).toBe(0)
})

test('sockets that a drain must close around the end of the minute are counted as forced', async () => {
  await open({ start: start + 46_000 })
  const closed = await connectMany(3)
  void fixture.stream.draining.start(5_000)
  await pass(4, closed, 3)
  expect(closed).toEqual([])
  await pass(2, closed, 3)
  expect(closed.length).toBe(3)
  expect(await fixture.metric('fxd_stream_drain_forced_closes_total')).toBe(3)
})

test('a drain accepts new clients for some seconds and closes them with the others, then refuses new ones', async () => {
  const { secret } = await fixture.issue()
  const drained = fixture.stream.draining.start(30_000)
  expect(fixture.stream.notReady()).toBe('draining')
  const early = await fixture.connect(secret)
  await fixture.clock.advance(noticeMs)
  await expect(fixture.connect(secret)).rejects.toThrow('503')
  await fixture.clock.advance(25_000)
  expect((await early.closed).code).toBe(1012)
  await drained
})

test('a cancelled drain keeps the open sockets and accepts new ones', async () => {
  const closed = await connectMany(10)
  const drained = fixture.stream.draining.start(30_000)
  await pass(10, closed, 10)
  fixture.stream.draining.cancel()
  await drained
  const sent = closed.length
  expect(sent).toBeGreaterThan(0)
  expect(sent).toBeLessThan(10)
  await fixture.clock.advance(20_000)
  expect(fixture.stream.notReady()).toBeUndefined()
  const { secret } = await fixture.issue()
  await fixture.connect(secret)
  expect(fixture.stream.load().connections).toBe(10 - sent + 1)
})

test('a second, shorter drain shortens the first one, and 0 closes all at once', async () => {
  const closed = await connectMany(5)
  const drained = fixture.stream.draining.start(600_000)
  void fixture.stream.draining.start(0)
  await fixture.clock.advance(1)
  await drained
  await expect.poll(() => closed.length).toBe(5)
})

test('the drain of a shard without sockets ends when it begins to refuse new clients', async () => {
  let isDone = false
  void fixture.stream.draining.start(30_000).then(() => (isDone = true))
  await fixture.clock.advance(noticeMs - 1)
  expect(isDone).toBe(false)
  await fixture.clock.advance(1)
  expect(isDone).toBe(true)
  expect(fixture.stream.draining.isOn).toBe(true)
})

test('a full shard is not ready and refuses the next upgrade of any key until a socket leaves', async () => {
  await open({ connectionsMax: 2 })
  const { secret } = await fixture.issue()
  const first = await fixture.connect(secret)
  expect(fixture.stream.notReady()).toBeUndefined()
  await fixture.connect(secret)
  expect(fixture.stream.notReady()).toBe('full: it holds 2 sockets')
  await expect(fixture.connect(secret)).rejects.toThrow('503')
  first.raw.terminate()
  await expect.poll(() => fixture.stream.notReady()).toBeUndefined()
  await fixture.connect(secret)
})

test('the drain of a process that ends cannot be cancelled', async () => {
  const clock = createVirtualClock()
  let left = 5
  const sockets = {
    get open() {
      return left
    },
    close: (count: number) => void (left -= count),
  }
  const draining = new Draining(clock, sockets, () => undefined)
  const drained = draining.startForEnd(30_000)
  expect(draining.cancel()).toBe(false)
  await clock.advance(60_000)
  await drained
  expect([left, draining.isOn]).toEqual([0, true])
})
