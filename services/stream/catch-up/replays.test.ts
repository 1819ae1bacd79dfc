import { PassThrough } from 'node:stream'
import { beforeEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../../test/acceptance/client/until.ts'
import { minuteBar, sampleKey, timeOf, zero } from '../../../test/support/fixtures/stream-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import { silentLog } from '../../platform/log/log.ts'
import { createMetrics } from '../../platform/metrics.ts'
import { Allowance } from '../connection/allowance.ts'
import { Connection, type ConnectionDeps, type StreamSocket } from '../connection/connection.ts'
import { FanOut } from '../fan-out/fan-out.ts'
import { Subscriptions } from '../fan-out/subscriptions.ts'
import { LiveFeed } from '../live/live-feed.ts'
import type { LiveSymbol } from '../live/live-symbol.ts'
import { createStreamMetrics } from '../metrics.ts'
import { Replays, replayMsMax } from './replays.ts'

const day = 1_440
const symbol = compoundKey(zero, 'SYM0')

let clock: VirtualClock
let subscriptions: Subscriptions
let replays: Replays
let feed: LiveFeed
let live: LiveSymbol
let gaps: { connection: Connection; after: number; why: string }[]
/** The reason of the last gap. */
let lastReason = ''
/** Writes the frames of the fan-out. */
let flush: () => void
/** Reads of the history so far. */
let reads = 0
/** Reads get no answer before this. */
let gate: Promise<unknown> | undefined
beforeEach(() => {
  reads = 0
  gate = undefined
  flush = () => undefined
  clock = createVirtualClock()
  subscriptions = new Subscriptions()
  gaps = []
  const metrics = createStreamMetrics(createMetrics({ ofProcess: false }), {
    connections: () => 0,
    subscriptions: () => 0,
    backlogBytes: () => 0,
    replays: () => replays.counts,
    draining: () => false,
  })
  vi.spyOn(metrics.replayGaps, 'inc').mockImplementation((labels) => {
    lastReason = (labels as { reason: string }).reason
  })
  const fanOut = Object.assign(
    new FanOut(
      clock,
      subscriptions,
      () => true,
      () => undefined,
    ),
    { flush: () => flush() },
  )
  const nothing = (): never => {
    throw new Error('not asked')
  }
  feed = new LiveFeed(zero, {
    clock,
    subscriptions,
    metrics,
    fanOut,
    log: silentLog,
    bars: { read: nothing, lastTimes: nothing },
    sockets: { at: nothing },
  })
  live = feed.symbol(symbol)
  live.lastTime = timeOf(day - 1)
  replays = new Replays({
    clock,
    subscriptions,
    metrics,
    fanOut,
    history: {
      // A day of minutes.
      async *range(_, from) {
        reads += 1
        await gate
        await Promise.resolve()
        const minutes = [...Array(day).keys()].map(minuteBar).filter(({ time }) => time >= from)
        if (minutes.length > 0) yield barsOf(minutes)
      },
    },
  })
})

const host: ConnectionDeps = {
  now: () => clock.monotonicMs(),
  leave: () => Promise.resolve(),
  beforeClose: () => undefined,
  queued: () => undefined,
  after: (delayMs, run) => clock.after(delayMs, run),
  closed: () => undefined,
  keyAllowance: () => new Allowance(1, 0),
  failed: (_, cause) => {
    throw cause
  },
}

/** A socket that requests the bars after this minute, by default a day; its bytes are accepted only while `raw` is read. */
function asking(key?: string, sinceMinute = -1) {
  const raw = new PassThrough()
  const { record } = sampleKey(key === undefined ? {} : { id: key })
  const caller = { key: record, digest: '', address: '', sessionId: '' }
  const socket = { readyState: WebSocket.OPEN } as StreamSocket
  const connection = new Connection(caller, subscriptions.openRow(), socket, raw, host)
  connection.send = (message) => {
    const { gaps: named } = JSON.parse(message) as { gaps: { after: number }[] }
    gaps.push(...named.map(({ after }) => ({ connection, after, why: lastReason })))
  }
  const { id } = live
  subscriptions.addDeferred(connection.row, id)
  replays.begin(connection, [{ feed, live, after: timeOf(sinceMinute) }])
  return { raw, connection, isDeferred: () => subscriptions.isDeferred(connection.row, id) }
}

test('sockets that do not read block no other replay, and get theirs when they read again', async () => {
  const slow = Array.from({ length: 20 }, asking)
  const fast = asking()
  fast.raw.resume()
  for (let i = 0; i < 4; i++) await clock.advance(250)
  await until('all bars of the fast one', () => !fast.isDeferred())
  expect(slow.every(({ isDeferred }) => isDeferred())).toBe(true)
  for (const { raw } of slow) raw.resume()
  await until('all replays', () => replays.counts.waiting === 0)
  expect(slow.some(({ isDeferred }) => isDeferred())).toBe(false)
  expect(gaps).toEqual([])
})

test('sockets of two keys that do not read delay no replay of another key, and read once each', async () => {
  const slow = ['one', 'two'].flatMap((key) => Array.from({ length: 30 }, () => asking(key)))
  const other = asking('other')
  other.raw.resume()
  await until('all bars of the other key', () => !other.isDeferred())
  await clock.advance(10_000)
  expect(slow.every(({ isDeferred }) => isDeferred())).toBe(true)
  expect(reads).toBeLessThan(slow.length + 10)
})

test('one key uses at most half of the concurrent reads, so that another key gets its replay', async () => {
  gate = new Promise(() => undefined)
  for (let i = 0; i < 20; i++) asking('one')
  await clock.advance(0)
  expect(reads).toBe(4)
  gate = undefined
  const other = asking('other')
  other.raw.resume()
  await until('all bars of the other key', () => !other.isDeferred())
  expect(replays.counts.waiting).toBe(20)
})

/** The open times that a socket got, as minutes. */
function gotten({ raw }: { readonly raw: PassThrough }): () => number[] {
  let text = ''
  raw.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')))
  return () => [...text.matchAll(/"time":(\d+)/g)].map(([, time]) => (Number(time) - timeOf(0)) / 60)
}

test('replays of a symbol that wait while it is read use that read, each from its own time', async () => {
  const lacking = Array.from({ length: 40 }, (_, i) => (i < 8 ? 3 : i % 4))
  const sockets = lacking.map((count) => gotten(asking('one', day - 1 - count)))
  await until('all replays', () => replays.counts.waiting === 0)
  // The first four read alone. The next four read for all others.
  expect(reads).toBe(8)
  expect(sockets.map((minutes) => minutes())).toEqual(
    lacking.map((count) => [day - 3, day - 2, day - 1].slice(3 - count)),
  )
  expect(gaps).toEqual([])
})

test('a replay that was requested after a read began reads itself', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const sockets = Array.from({ length: 5 }, () => gotten(asking('one', day - 4)))
  await clock.advance(0)
  expect(reads).toBe(4)
  resolve()
  await until('all replays', () => replays.counts.waiting === 0)
  expect(reads).toBe(5)
  for (const minutes of sockets) expect(minutes()).toEqual([day - 3, day - 2, day - 1])
})

test.for([
  { what: 'of more than half an hour', read: day - 40, waiting: day - 40 },
  { what: 'from an earlier time', read: day - 4, waiting: day - 6 },
])('a replay $what reads itself', async ({ read, waiting }) => {
  const times = [...Array.from({ length: 8 }, () => read), waiting]
  const sockets = times.map((after) => gotten(asking('one', after)))
  await until('all replays', () => replays.counts.waiting === 0)
  expect(reads).toBe(9)
  expect(sockets.map((minutes) => minutes().length)).toEqual(times.map((after) => day - 1 - after))
})

test('a replay that takes too long gets a gap after its last bar, then live bars follow', async () => {
  const { connection, isDeferred } = asking()
  await clock.advance(replayMsMax - 1_000)
  expect(isDeferred()).toBe(true)
  await clock.advance(1_000)
  expect(gaps).toEqual([{ connection, after: timeOf(499), why: 'late' }])
  expect(isDeferred()).toBe(false)
  expect(replays.counts.waiting).toBe(0)
})

test('after a replay timed out ahead of the bus, live bars follow with the first one later than all sent', async () => {
  live.lastTime = timeOf(100)
  const { isDeferred } = asking()
  await clock.advance(replayMsMax)
  expect(gaps).toMatchObject([{ after: timeOf(499) }])
  feed.receive([{ symbol, resolution: '1', bar: minuteBar(499) }])
  expect(isDeferred()).toBe(true)
  feed.receive([{ symbol, resolution: '1', bar: minuteBar(500) }])
  expect(isDeferred()).toBe(false)
})

test('unsent bars of a replay are reported as gaps until they are sent', async () => {
  const { raw, connection } = asking()
  await clock.advance(1_000)
  expect(replays.unsentGaps(connection)).toEqual([{ symbol, after: timeOf(499) }])
  raw.resume()
  await until('all replays', () => replays.counts.waiting === 0)
  expect(replays.unsentGaps(connection)).toEqual([])
})

test('nothing is kept for a socket that is closed as too slow at the end of its replay', async () => {
  live.lastTime = timeOf(0)
  const { raw, connection } = asking()
  flush = () => {
    Object.assign(connection.socket, { readyState: WebSocket.CLOSED })
    replays.forget(connection)
    subscriptions.closeRow(connection.row)
  }
  raw.resume()
  await clock.advance(1_000)
  await until('the end of the replay', () => replays.counts.waiting === 0)
  expect(replays.counts.waitingForNextBar).toBe(0)
})

test('no replay from memory begins after 5 ms of a turn of the event loop; the next turn continues', async () => {
  for (const minute of [-1, 0]) live.recent.add(minuteBar(minute))
  live.lastTime = timeOf(0)
  // Each replay takes two milliseconds.
  flush = () => clock.freezeFor(2)
  for (let i = 0; i < 20; i++) asking().raw.resume()
  const turns: number[] = []
  while (replays.counts.waiting > 0 && turns.length < 20) {
    for (let i = 0; i < 1_000; i++) await Promise.resolve()
    turns.push(replays.counts.waiting)
    await new Promise((resolve) => void setImmediate(resolve))
  }
  expect(turns).toEqual([17, 14, 11, 8, 5, 2])
  expect(reads).toBe(0)
})
