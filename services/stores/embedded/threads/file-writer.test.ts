import { expect, test } from 'vitest'
import { startGatedThread } from '../../../../test/support/fixtures/gated-thread.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { allocateBars } from '../../../core/bars/bar.ts'
import { Unavailable } from '../../../core/failure.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import { createLog } from '../../../platform/log/log.ts'
import { rowsPerLane, writeDeadlineMs } from '../../write-queue.ts'
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

test('a full backfill lane does not delay the live lane', async () => {
  const { queue, writer, turns } = await start()
  const waiting = [1, 2, 3].map(() => queue.writeBars(rows(rowsPerLane), 'backfill'))
  const live = queue.writeBars(rows(1), 'live')
  writer.letThrough(3)
  await live
  expect(turns()[2]).toBe(1)
  writer.letThrough(3 * (rowsPerLane / rowsPerTurn))
  await Promise.all(waiting)
})

test('small waiting writes share transactions of at most 2,000 rows; each other call has its own', async () => {
  const { queue, writer, turns } = await start()
  const writes = [rows(1), rows(1), ...Array.from({ length: 250 }, () => rows(10))]
  const all: Promise<unknown>[] = writes.map((each) => queue.writeBars(each, 'live'))
  all.push(queue.call('ping', undefined, { lane: 'live', weight: 1 }))
  all.push(queue.writeBars(rows(3), 'live'))
  writer.letThrough(100)
  await Promise.all(all)
  expect(turns()).toEqual([1, 1, 2_000, 500, 'ping', 3])
})

test('a failed turn fails the writes with rows in it, and no others', async () => {
  const { queue, writer, turns } = await start()
  const before = queue.writeBars(rows(2 * rowsPerTurn), 'live')
  const neighbours = [
    queue.writeBars(rows(1), 'live'),
    queue.writeBars(rows(5 * rowsPerTurn, 'refused'), 'live'),
  ]
  const after = queue.writeBars(rows(rowsPerTurn), 'live')
  writer.letThrough(100)
  await before
  await expect(neighbours[1]).rejects.toBeInstanceOf(Unavailable)
  await expect(neighbours[0]).resolves.toBeUndefined()
  await after
  // Two of its five pieces were under way; the others are not sent.
  expect(turns()).toEqual([rowsPerTurn, rowsPerTurn, 1, rowsPerTurn, rowsPerTurn, rowsPerTurn])
})

test('a write that takes more than 30 s is unavailable, and its waiting rows are never written', async () => {
  const { clock, queue, writer, turns } = await start()
  const outcome = (write: Promise<unknown>) => write.catch((cause: unknown) => cause)
  const late = [
    outcome(queue.writeBars(rows(5 * rowsPerTurn), 'backfill')),
    outcome(queue.writeBars(rows(rowsPerLane), 'backfill')),
    outcome(queue.call('purgeBars', feed, { lane: 'live', weight: 1 })),
  ]
  await clock.advance(writeDeadlineMs - 1)
  const inTime = queue.writeBars(rows(5), 'backfill')
  await clock.advance(1)
  for (const each of late) expect(await each).toBeInstanceOf(Unavailable)
  expect([queue.waiting, queue.refused]).toEqual([1, 3])
  writer.letThrough(100)
  await inTime
  expect(turns()).toEqual([rowsPerTurn, rowsPerTurn, 5])
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
  await expect(
    queue.call('purgeWindows', feedKey('REFUSED', 'refused'), { lane: 'live', weight: 1 }),
  ).rejects.toThrow('store is unavailable')
  await bars.ping()
  await bars.ping()
  expect(turns()).toEqual(['ping', 'purgeWindows', 'probe', 'ping'])
})

test('while writes of bars fail the store is unavailable after 10 s, although counters are written; this is logged once, and once more when bars are stored', async () => {
  const { clock, queue, writer, logged } = await start()
  writer.letThrough(1_000)
  const bars = embeddedBars(queue, { call: () => Promise.resolve() } as never, { wake() {}, stop() {} })
  const failing = () => queue.writeBars(rows(1, 'refused'), 'live').catch((cause: unknown) => cause)
  const counters = () => queue.call('purgeWindows', feed, { lane: 'live', weight: 1 })
  for (let second = 0; second <= 12; second++) {
    expect(await failing()).toBeInstanceOf(Unavailable)
    await counters()
    const outcome = await bars.ping().catch((cause: unknown) => cause)
    if (second > 10)
      expect(String((outcome as Unavailable).cause)).toContain(`no bars were stored for ${second} s`)
    else expect(outcome).toBeUndefined()
    await clock.advance(1_000)
  }
  expect(queue.barsFailingMs).toBe(13_000)
  expect(logged).toMatchObject([
    { level: 50, msg: expect.stringMatching(/^store unavailable; no bars/) as string },
  ])
  await queue.writeBars(rows(1), 'live')
  await bars.ping()
  expect(queue.barsFailingMs).toBe(0)
  expect(logged).toMatchObject([{ level: 50 }, { level: 30, msg: 'bars are stored again' }])
})

test('single failed writes of bars are no outage', async () => {
  const { clock, queue, writer, logged } = await start()
  writer.letThrough(1_000)
  for (let i = 0; i < 5; i++) {
    await queue.writeBars(rows(1, 'refused'), 'backfill').catch(() => undefined)
    await clock.advance(9_000)
    await queue.writeBars(rows(1), 'live')
  }
  queue.throwIfFailing()
  expect(logged).toEqual([])
})
