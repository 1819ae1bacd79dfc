import { expect, test } from 'vitest'
import { startGatedThread } from '../../../../test/support/fixtures/gated-thread.ts'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { Overloaded, Unavailable } from '../../../core/failure.ts'
import { serviceReader, waitingShare } from '../../../core/fair-queue.ts'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import { silentLog } from '../../../platform/log/log.ts'
import { createMetrics } from '../../../platform/metrics.ts'
import { patientReadDeadlineMs, readDeadlineMs, readsWaitingMax } from '../../../platform/read-turns.ts'
import { embeddedBars } from '../bars.ts'
import { embeddedWindows } from '../windows.ts'
import { FileWriter } from './file-writer.ts'
import { measureThreads } from './measure.ts'
import type { ReaderCalls } from './reader.ts'
import { Readers } from './readers.ts'

/** A part of the store that reads do not use. */
const none = undefined as never
const turnDeadlineMs = readDeadlineMs * waitingShare

async function start() {
  const clock = createVirtualClock()
  const startOne = () =>
    startGatedThread<ReaderCalls & { die: (none: undefined) => void }>(clock, patientReadDeadlineMs)
  const gated = [await startOne(), await startOne()] as const
  return {
    clock,
    gated,
    readers: new Readers(
      gated.map(({ thread }) => thread),
      clock,
    ),
  }
}

const outcome = (read: Promise<unknown>): Promise<unknown> => read.catch((cause: unknown) => cause)

test('each reader does one read at a time; others wait for the first free reader', async () => {
  const { gated, readers } = await start()
  const reads = Array.from({ length: 20 }, () => readers.call('ping', undefined))
  expect(gated.map(({ seen }) => seen.length)).toEqual([1, 1])
  gated[1].letThrough(19)
  await expect.poll(() => gated.map(({ seen }) => seen.length)).toEqual([1, 19])
  gated[0].letThrough(1)
  await Promise.all(reads)
})

test('a read that takes more than 2 s, its waiting included, is unavailable', async () => {
  const { clock, gated, readers } = await start()
  const early = Array.from({ length: 10 }, () => outcome(readers.call('ping', undefined)))
  await clock.advance(turnDeadlineMs)
  expect(readers.refused).toBe(8)
  await clock.advance(readDeadlineMs - turnDeadlineMs - 1)
  const late = Array.from({ length: 5 }, () => readers.call('ping', undefined))
  await clock.advance(1)
  expect(readers.refused).toBe(10)
  for (const each of await Promise.all(early)) expect(each).toBeInstanceOf(Unavailable)
  for (const { letThrough } of gated) letThrough(100)
  await Promise.all(late)
  await expect.poll(() => clock.pending).toBe(0)
})

test.each([
  ['bars that a client waits for', 'live', readDeadlineMs],
  ['bars that a session of a collector waits for', 'backfill', patientReadDeadlineMs],
  ['windows', 'windows', patientReadDeadlineMs],
] as const)('reads of %s are unavailable at their deadline, not earlier', async (_, what, deadlineMs) => {
  const { clock, readers } = await start()
  const feed = feedKey('BROKERA', 'ZERO')
  const bars = embeddedBars(none, readers, none)
  const read = (): Promise<unknown> =>
    what === 'windows' ? embeddedWindows(none, readers).of(feed) : bars.lastTimes(feed, { lane: what })
  let isOver = false
  const underWay = [read(), read()].map(outcome)
  void underWay[0]?.then(() => void (isOver = true))
  await clock.advance(deadlineMs - 1)
  expect(isOver).toBe(false)
  await clock.advance(1)
  for (const each of await Promise.all(underWay)) expect(each).toBeInstanceOf(Unavailable)
})

test('a read above the bound is rejected at once', async () => {
  const { clock, gated, readers } = await start()
  const underWay = 2
  const accepted = Array.from({ length: underWay + readsWaitingMax }, () => readers.call('ping', undefined))
  const refused = await outcome(readers.call('ping', undefined))
  expect(refused).toBeInstanceOf(Unavailable)
  expect(String((refused as Unavailable).cause)).toContain('too many reads are already waiting')
  const metrics = createMetrics({ ofProcess: false })
  measureThreads({ readers, writer: new FileWriter(gated[0].thread as never, clock, silentLog) }, metrics)
  // Twice: a count kept elsewhere is set at each scrape, not added.
  await metrics.render()
  const { text } = await metrics.render()
  expect(text).toContain('fxd_store_waiting{kind="read"} 1024')
  expect(text).toContain('fxd_store_refused_total{kind="read"} 1\n')
  for (const { letThrough } of gated) letThrough(2_000)
  await Promise.all(accepted)
})

test('reads of a key with too many reads fail, and the read of another key is next', async () => {
  const { clock, gated, readers } = await start()
  const flood = Array.from({ length: 40 }, () =>
    outcome(readers.call('ping', undefined, serviceReader('flooding'))),
  )
  for (const { letThrough } of gated) letThrough(5)
  await expect.poll(() => readers.waiting).toBe(28)
  const calm = readers.call('ping', undefined, serviceReader('calm'))
  // Two are read; one read of the flood and the new one take their places. Two more are ahead of it.
  for (const { letThrough } of gated) letThrough(1)
  await expect.poll(() => readers.waiting).toBe(27)
  for (const { letThrough } of gated) letThrough(2)
  await calm
  await clock.advance(turnDeadlineMs)
  for (const { letThrough } of gated) letThrough(100)
  const failed = (await Promise.all(flood)).filter((each) => each !== undefined)
  expect(failed.length).toBeGreaterThan(0)
  for (const each of failed) expect(each).toBeInstanceOf(Overloaded)
})

test('a read whose reader is gone is dropped at its turn and does not count as rejected', async () => {
  const { gated, readers } = await start()
  const first = Array.from({ length: 4 }, () => readers.call('ping', undefined))
  const reader = { key: 'gone', sinceMs: 0, isGone: true }
  const gone = outcome(readers.call('ping', undefined, reader))
  for (const { letThrough } of gated) letThrough(10)
  await Promise.all(first)
  expect(await gone).toBeInstanceOf(Unavailable)
  expect(gated.flatMap(({ seen }) => seen)).toHaveLength(4)
  expect(readers.refused).toBe(0)
})

test('while one reader is unavailable the other answers; without any, reads fail at once', async () => {
  const { gated, readers } = await start()
  const kill = async (i: 0 | 1): Promise<void> => {
    const died = outcome(gated[i].thread.call('die', undefined))
    gated[i].letThrough(1)
    expect(await died).toBeInstanceOf(Unavailable)
  }
  await kill(0)
  const reads = Array.from({ length: 6 }, () => readers.call('ping', undefined))
  gated[1].letThrough(6)
  await Promise.all(reads)
  await kill(1)
  expect(await outcome(readers.call('ping', undefined))).toBeInstanceOf(Unavailable)
})
