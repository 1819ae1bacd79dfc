import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import type { Lane } from '../core/bars/series.ts'
import { Unavailable } from '../core/failure.ts'
import { rowsPerLane, Submission, WriteQueue, writeDeadlineMs } from './write-queue.ts'

const rowsOutsideMax = 300_000

function fixture() {
  const clock = createVirtualClock()
  /** Works that the queue looked at. */
  const seen: number[] = []
  const rowsOf = (count: number): number => {
    seen.push(count)
    return count
  }
  const queue = new WriteQueue<number>({ rowsPerTake: 20_000, rowsOf, rowsOutsideMax })
  /** A caller, and how its write ended. */
  const call = (lane: Lane, ...works: number[]) => {
    const rows = works.reduce((sum, count) => sum + count, 0)
    const submission = new Submission(works, { lane, rows, deadlineMs: writeDeadlineMs, clock })
    submission.onSettled = () => queue.leave(submission)
    const outcome = submission.done.then(
      () => 'stored',
      (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : 'another error'),
    )
    queue.enter(submission)
    return { submission, outcome }
  }
  const fill = (lane: Lane) => [call(lane, rowsPerLane), call(lane, rowsOutsideMax)] as const
  return { clock, queue, call, fill, seen }
}

test('rows outside the queue are counted and bounded: a write above the bound is rejected at once', async () => {
  const { queue, call, fill } = fixture()
  const [inside] = fill('backfill')
  expect(queue.rows('backfill')).toBe(rowsPerLane + rowsOutsideMax)
  const refused = call('backfill', 1)
  expect(refused.submission.settled).toBe(true)
  expect(await refused.outcome).toContain('the queue of the backfill lane is full (400000 rows)')
  expect(queue.rows('backfill')).toBe(rowsPerLane + rowsOutsideMax)
  inside.submission.stored()
  expect(await inside.outcome).toBe('stored')
  expect(call('backfill', 1).submission.settled).toBe(false)
})

test('a full backfill lane rejects no live rows, and live rows are taken first', () => {
  const { queue, call, fill } = fixture()
  fill('backfill')
  expect(call('live', 5_000).submission.settled).toBe(false)
  expect(queue.rows('live')).toBe(5_000)
  expect(queue.take().map(({ submission }) => submission.lane)).toEqual(['live'])
})

test('a write that waits outside the queue fails at its deadline and frees its capacity', async () => {
  const { clock, queue, fill } = fixture()
  const [inside, outside] = fill('live')
  await clock.advance(writeDeadlineMs)
  for (const { outcome } of [inside, outside]) expect(await outcome).toContain('not written within 30000 ms')
  expect(queue.rows('live')).toBe(0)
  expect(queue.take()).toEqual([])
})

test('jobs that failed at their deadline leave a lane from which nothing is taken', async () => {
  const { clock, queue, call, seen } = fixture()
  call('backfill', 7)
  await clock.advance(writeDeadlineMs)
  call('live', 1)
  expect(queue.take().map(({ work }) => work)).toEqual([1])
  expect(queue.take()).toEqual([])
  expect(seen).toEqual([1])
})

test('one take returns jobs up to its bound of rows; larger work is returned alone', () => {
  const { queue, call } = fixture()
  call('live', 5_000, 15_000, 1)
  call('live', 30_000)
  const takes = () => queue.take().map(({ work }) => work)
  expect([takes(), takes(), takes(), takes()]).toEqual([[5_000, 15_000], [1], [30_000], []])
})

test('jobs that are put back are taken first again, except those of settled submissions', () => {
  const { queue, call } = fixture()
  const failed = call('live', 1)
  call('live', 2)
  const taken = queue.take()
  call('live', 3)
  queue.putBack(taken)
  failed.submission.settle()
  expect(queue.take().map(({ work }) => work)).toEqual([2, 3])
})
