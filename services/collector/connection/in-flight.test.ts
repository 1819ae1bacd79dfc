import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { backfillBatchesSlow, windowsMax as ingestWindowsMax } from '../../ingest/session/work/in-flight.ts'
import { silentLog } from '../../platform/log/log.ts'
import { BarRouter } from '../series/bar-router.ts'
import { CollectedSeries } from '../series/collected-series.ts'
import { KnownFeed } from '../series/known-feed.ts'
import { Revisions } from '../series/revisions.ts'
import { BackfillSender } from './backfill-sender.ts'
import { backfillMessagesMax } from './history-room.ts'
import { LaneRouter } from './lane-router.ts'
import { LiveSender } from './live-sender.ts'
import { Outbox } from './outbox.ts'
import { Refusals } from './refusals.ts'
import type { Answer, SessionClient } from './session-client.ts'
import { WindowSender, windowsMax } from './window-sender.ts'
import { WorkInFlight } from './work-in-flight.ts'

const answer: Answer = { accepted: 1, revised: 0, unchanged: 0, refused: [] }
const of = { raw: 'A', resolution: '1', name: 'A', scale: 0, delaySeconds: 0, since: undefined } as const
const series = new CollectedSeries(of, new KnownFeed([]), undefined)
const bars = barsOf([{ time: feedSeconds(0), open: 1, high: 1, low: 1, close: 1, volume: 1 }])

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** An ingest that answers when the test resolves a call. */
function ingest() {
  const waiting: ((answer: Answer) => void)[] = []
  const post = () => new Promise<Answer>((resolve) => void waiting.push(resolve))
  const client = { bars: post, window: post, onSlow: () => undefined } as unknown as SessionClient
  const stop = new AbortController()
  const clock = createVirtualClock()
  const base = { client, clock, log: silentLog, signal: stop.signal, time: clock }
  const shared = { ...base, outbox: new Outbox(base), refusals: new Refusals(base) }
  return { waiting, shared, stop }
}

const settle = () => new Promise((resolve) => void setImmediate(resolve))

test('backfill messages in flight are bounded, however small, below the number at which ingest requests a pause', async () => {
  const { waiting, shared, stop } = ingest()
  const backfill = new BackfillSender({ ...shared, idle: async () => undefined })
  const sent = Array.from({ length: 20 }, () => backfill.send([{ ...of, symbol: 'A', series, bars }]))
  const all = Promise.allSettled(sent)
  await settle()
  expect(backfillMessagesMax).toBeLessThan(backfillBatchesSlow)
  expect(waiting.length).toBe(backfillMessagesMax)
  waiting[0]?.(answer)
  await settle()
  expect(waiting.length).toBe(backfillMessagesMax + 1)
  stop.abort()
  const ended = (await all).map(({ status }) => status)
  expect(ended.filter((status) => status === 'rejected')).toHaveLength(20 - backfillMessagesMax - 1)
})

test.each(['live bars', 'history'])(
  'history is sent while %s of another resolution wait for their Ack, below the number at which ingest requests a pause',
  async (stuck) => {
    const { waiting, shared, stop } = ingest()
    const inFlight = new WorkInFlight(() => undefined)
    const live = new LiveSender({ ...shared, inFlight, onForming: () => undefined })
    const backfill = new BackfillSender({ ...shared, idle: (r) => live.idle(r) })
    const fives = { ...of, resolution: '5' as const, symbol: 'A', series, bars }
    if (stuck === 'live bars') live.send([fives])
    const ended = Array.from({ length: 20 }, () => Promise.allSettled([backfill.send([fives])]))
    await settle()
    await settle()
    const before = waiting.length
    expect(await backfill.send([{ ...of, symbol: 'A', series, bars }])).toHaveLength(1)
    expect(waiting.length).toBe(before + 1)
    for (let i = 0; i < 20; i++)
      ended.push(Promise.allSettled([backfill.send([{ ...of, symbol: 'A', series, bars }])]))
    await settle()
    expect(waiting.length).toBeLessThan(backfillBatchesSlow)
    stop.abort()
    for (const resolve of waiting) resolve(answer)
    await Promise.all(ended)
  },
)

test('a live bar waits behind at most four small backfill messages', async () => {
  const { waiting, shared, stop } = ingest()
  const sizes: number[] = []
  shared.client.bars = (_lane, message) => {
    sizes.push(message.reduce((sum, { byteLength }) => sum + byteLength, 0))
    return new Promise((resolve) => void waiting.push(resolve))
  }
  const backfill = new BackfillSender({ ...shared, idle: async () => undefined })
  const list = Array.from({ length: 10_000 }, (_, i) => {
    return { time: feedSeconds(60 * i), open: 1, high: 1, low: 1, close: 1, volume: 1 }
  })
  const sent = backfill.send([{ ...of, symbol: 'A', series, bars: barsOf(list) }])
  sent.catch(() => undefined)
  await settle()
  expect(sizes).toHaveLength(4)
  // Each column of a bar has one or two bytes.
  expect(Math.max(...sizes)).toBeLessThan(1_000 * 14)
  stop.abort()
})

test('the backfill lane waits for the pause that ingest requests', async () => {
  const { waiting, shared, stop } = ingest()
  const clock = createVirtualClock()
  const backfill = new BackfillSender({ ...shared, clock, idle: async () => undefined })
  shared.client.onSlow(500)
  const sent = backfill.send([{ ...of, symbol: 'A', series, bars }])
  await clock.advance(400)
  expect(waiting.length).toBe(0)
  await clock.advance(200)
  expect(await sent).toHaveLength(1)
  expect(waiting.length).toBe(1)
  stop.abort()
})

test('windows in flight are bounded, below the number at which ingest stops reading', async () => {
  const { waiting, shared, stop } = ingest()
  const windows = new WindowSender(shared)
  const span = { from: feedSeconds(0), to: feedSeconds(60) }
  const all = Promise.allSettled(Array.from({ length: 300 }, () => windows.send('A', '1', span)))
  await settle()
  expect(windowsMax).toBeLessThan(ingestWindowsMax)
  expect(waiting.length).toBe(windowsMax)
  for (const resolve of waiting.splice(0)) resolve(answer)
  await settle()
  expect(waiting.length).toBe(windowsMax)
  stop.abort()
  for (const resolve of waiting) resolve(answer)
  expect((await all).filter(({ status }) => status === 'rejected')).toHaveLength(300 - 2 * windowsMax)
})

test('windows and history of one resolution do not wait for Acks of another one', async () => {
  const { waiting, shared, stop } = ingest()
  const inFlight = new WorkInFlight(() => undefined)
  const live = new LiveSender({ ...shared, inFlight, onForming: () => undefined })
  const hours = { ...of, resolution: '60' as const }
  live.send([
    { ...of, symbol: 'A', series, bars },
    { ...hours, symbol: 'A', series: new CollectedSeries(hours, new KnownFeed([]), undefined), bars },
  ])
  await settle()
  expect(waiting.length).toBe(2)
  waiting[0]?.(answer)
  await Promise.all([live.settled('1'), live.idle('1')])
  let isSettled = false
  void Promise.race([live.settled('60'), live.idle('60')]).then(() => (isSettled = true))
  await settle()
  expect(isSettled).toBe(false)
  waiting[1]?.(answer)
  await Promise.all([live.settled('60'), live.idle('60')])
  stop.abort()
})

test('a live bar that was refused as not closed after a later one was sent is sent again with the history', async () => {
  const { waiting, shared, stop } = ingest()
  const router = new BarRouter({ revisions: new Revisions(shared.clock), log: silentLog })
  const failed = (cause: unknown): void => expect.unreachable(String(cause))
  const lanes = new LaneRouter({ ...shared, router, failed })
  const own = new CollectedSeries(of, new KnownFeed([]), undefined)
  for (const time of [60, 120]) {
    const bar = barsOf([{ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 }])
    lanes.sendNow([router.route(own, bar, false)])
  }
  const reason = 'REFUSAL_REASON_NOT_CLOSED' as const
  waiting[0]?.({ ...answer, refused: [{ series: 0, index: 0, count: 1, reason, message: '' }] })
  waiting[1]?.(answer)
  await settle()
  expect([...own.unclosed.time]).toEqual([60])
  stop.abort()
})

test('live bars of many series that wait for their Ack take less than 700 bytes each', async () => {
  const { waiting, shared, stop } = ingest()
  const router = new BarRouter({ revisions: new Revisions(shared.clock), log: silentLog })
  const lanes = new LaneRouter({ ...shared, router, failed: () => undefined })
  const all = Array.from(
    { length: 1_600 },
    (_, i) => new CollectedSeries({ ...of, raw: `S${i}`, name: `S${i}` }, new KnownFeed([]), undefined),
  )
  const bytes = (): number => {
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = bytes()
  const minutes = 30
  for (let minute = 1; minute <= minutes; minute++) {
    const time = feedSeconds(60 * minute)
    const bar = () => barsOf([{ time, open: 1, high: 1, low: 1, close: 1, volume: 1 }])
    lanes.sendNow(all.map((each) => router.route(each, bar(), false)))
    await settle()
  }
  expect((bytes() - before) / (minutes * all.length)).toBeLessThan(700)
  expect(waiting.length).toBe(2 * minutes)
  stop.abort()
})
