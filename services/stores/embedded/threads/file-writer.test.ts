import { expect, test } from 'vitest'
import { startGatedThread } from '../../../../test/support/fixtures/gated-thread.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { allocateBars } from '../../../core/bars/bar.ts'
import { Unavailable } from '../../../core/failure.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import { createLog } from '../../../platform/log/log.ts'
import { writeDeadlineMs } from '../../write-queue/submission.ts'
import { embeddedBars } from '../bars.ts'
import { type PackedRows, packRows } from '../file/packed-rows.ts'
import { FileWriter, rowsPerTurn, turnDeadlineMs } from './file-writer.ts'
import type { WriterCalls } from './writer.ts'

const feed = feedKey('BROKERA', 'ZERO')
const rows = (count: number, name = 'SYM'): PackedRows[] => {
  const series = { feed, symbol: compoundKey(feed, name), resolution: '1' as const }
  return packRows([{ series, bars: allocateBars(count) }], rowsPerTurn)
}

async function start() {
  const clock = createVirtualClock()
  const logged: { level: number; msg: string }[] = []
  const log = createLog('info', {
    write: (line) => void logged.push(JSON.parse(line) as (typeof logged)[number]),
  })
  const writer = await startGatedThread<WriterCalls>(clock, turnDeadlineMs)
  /** The size of each turn so far: its number of rows, or the name of its call. */
  const turns = () =>
    writer.seen.map(({ name, argument }) =>
      name === 'writeBars' ? (argument as PackedRows[]).reduce((sum, { count }) => sum + count, 0) : name,
    )
  return { clock, writer, turns, logged, queue: new FileWriter(writer.thread, clock, log) }
}

test('live rows overtake waiting backfill and wait for at most the two turns under way', async () => {
  const { queue, writer, turns } = await start()
  const backfill = queue.writeBars(rows(10 * rowsPerTurn), 'backfill')
  const live = queue.writeBars(rows(7), 'live')
  expect(turns()).toEqual([rowsPerTurn, rowsPerTurn])
  writer.letThrough(3)
  await live
  expect(turns().slice(0, 3)).toEqual([rowsPerTurn, rowsPerTurn, 7])
  writer.letThrough(8)
  await backfill
  expect(turns()).toHaveLength(11)
})

test('small waiting writes share transactions of at most 2,000 rows; each other call has its own', async () => {
  const { queue, writer, turns } = await start()
  const writes = [rows(1), rows(1), ...Array.from({ length: 250 }, () => rows(10))]
  const all: Promise<unknown>[] = writes.map((each) => queue.writeBars(each, 'live'))
  all.push(queue.call('ping', undefined, 'live'))
  all.push(queue.writeBars(rows(3), 'live'))
  writer.letThrough(100)
  await Promise.all(all)
  expect(turns()).toEqual([1, 1, 2_000, 'ping', 503])
})

test('a failed turn of bars is written again, with the same rows, until it succeeds; other calls fail', async () => {
  const { clock, queue, writer, turns } = await start()
  writer.fail(true)
  writer.letThrough(100)
  const write = queue.writeBars(rows(7), 'live')
  await expect(queue.call('purgeBars', feed, 'live')).rejects.toBeInstanceOf(Unavailable)
  await expect.poll(turns).toEqual([7, 'purgeBars'])
  writer.fail(false)
  await clock.advance(100)
  await write
  expect(turns()).toEqual([7, 'purgeBars', 7])
  expect(writer.seen[2]).toEqual(writer.seen[0])
})

test('windows are added again until that succeeds, or until their signal aborts', async () => {
  const { clock, queue, writer, turns } = await start()
  writer.letThrough(100)
  writer.fail(true)
  const hidden = new AbortController()
  const dropped = queue.callUntilDone('addWindows', [], hidden.signal)
  const kept = queue.callUntilDone('addWindows', [], undefined)
  await expect.poll(turns).toEqual(['addWindows', 'addWindows'])
  hidden.abort(new Error('hidden'))
  await expect(dropped).rejects.toThrow('hidden')
  await expect.poll(() => clock.advance(1_000).then(() => turns().length)).toBeGreaterThan(2)
  writer.fail(false)
  let isAdded = false
  const added = kept.then(() => (isAdded = true))
  await expect.poll(() => clock.advance(2_000).then(() => isAdded)).toBe(true)
  await added
})

test('a call that takes more than 30 s is unavailable and never made; bars wait for longer', async () => {
  const { clock, queue, writer, turns } = await start()
  const bars = queue.writeBars(rows(3 * rowsPerTurn), 'backfill')
  const late = queue.call('purgeBars', feed, 'live').catch((cause: unknown) => cause)
  await clock.advance(writeDeadlineMs)
  expect(await late).toBeInstanceOf(Unavailable)
  expect([queue.waiting, queue.refused]).toEqual([1, 1])
  writer.letThrough(100)
  await bars
  expect(turns()).toEqual([rowsPerTurn, rowsPerTurn, rowsPerTurn])
})

test('draining while bars cannot be written fails them instead of trying again', async () => {
  const { queue, writer } = await start()
  writer.fail(true)
  const writes = [rows(3 * rowsPerTurn), rows(1)].map((each) =>
    queue.writeBars(each, 'live').catch((cause: unknown) => cause),
  )
  const drain = queue.drain()
  writer.letThrough(100)
  await drain
  for (const write of writes) expect(await write).toBeInstanceOf(Unavailable)
})

test('draining waits for all submitted writes', async () => {
  const { queue, writer } = await start()
  const write = queue.writeBars(rows(3 * rowsPerTurn), 'backfill')
  let drained = false
  const drain = queue.drain().then(() => (drained = true))
  writer.letThrough(2)
  await expect.poll(() => writer.seen).toHaveLength(3)
  expect(drained).toBe(false)
  writer.letThrough(1)
  await Promise.all([write, drain])
})

test('after a failed write a ping writes too, until a write succeeds', async () => {
  const { queue, writer, turns } = await start()
  writer.letThrough(100)
  const bars = embeddedBars(queue, { call: () => Promise.resolve() } as never, { wake() {}, stop() {} })
  await bars.ping()
  await expect(queue.call('purgeWindows', feedKey('REFUSED', 'refused'), 'live')).rejects.toThrow(
    'store is unavailable',
  )
  await bars.ping()
  await bars.ping()
  expect(turns()).toEqual(['ping', 'purgeWindows', 'probe', 'ping'])
})

test('while writes of bars fail the store is unavailable after 10 s, although counters are written; this is logged once, and once more when bars are stored', async () => {
  const { clock, queue, writer, logged } = await start()
  writer.letThrough(1_000)
  const bars = embeddedBars(queue, { call: () => Promise.resolve() } as never, { wake() {}, stop() {} })
  const counters = () => queue.call('purgeWindows', feed, 'live')
  const hidden = new AbortController()
  const failing = queue.writeBars(rows(1, 'refused'), 'live', { signal: hidden.signal })
  const failed = failing.catch((cause: unknown) => cause)
  for (let second = 0; second <= 12; second++) {
    await counters()
    const outcome = await bars.ping().catch((cause: unknown) => cause)
    if (second > 10)
      expect(String((outcome as Unavailable).cause)).toContain(`no bars were stored for ${second} s`)
    else expect(outcome).toBeUndefined()
    await clock.advance(1_000)
  }
  hidden.abort(new Error('hidden'))
  expect(await failed).toEqual(new Error('hidden'))
  expect(queue.failingMs).toBe(13_000)
  expect(logged).toMatchObject([
    { level: 50, msg: expect.stringMatching(/^store unavailable; no bars/) as string },
  ])
  const stored = queue.writeBars(rows(1), 'live')
  await clock.advance(2_000)
  await stored
  await bars.ping()
  expect(queue.failingMs).toBe(0)
  expect(logged).toMatchObject([{ level: 50 }, { level: 30, msg: 'bars are stored again' }])
})

test('single failed writes of bars are no outage', async () => {
  const { clock, queue, writer, turns, logged } = await start()
  writer.letThrough(1_000)
  for (let i = 0; i < 5; i++) {
    writer.fail(true)
    const write = queue.writeBars(rows(1), 'backfill')
    await expect.poll(() => queue.isFailing).toBe(true)
    writer.fail(false)
    await clock.advance(9_000)
    await write
    expect(turns()).toHaveLength(2 * i + 2)
  }
  queue.throwIfFailing()
  expect(logged).toEqual([])
})
