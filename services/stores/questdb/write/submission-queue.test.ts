import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import type { Lane } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import type { EncodedRows } from './rows.ts'
import { Submission } from './submission.ts'
import { rowsOutsideMax, rowsPerLane, SubmissionQueue } from './submission-queue.ts'

const deadlineMs = 30_000

function fixture() {
  const clock = createVirtualClock()
  const queue = new SubmissionQueue()
  /** A caller, and what it has heard so far. */
  const call = (rows: number, lane: Lane) => {
    const encoded: EncodedRows = { table: 't', bytes: Buffer.alloc(0), ends: Array<number>(rows).fill(0) }
    const submission = new Submission([encoded], lane, clock, deadlineMs)
    submission.onSettled = () => queue.leave(submission)
    const heard = submission.done.then(
      () => 'stored',
      (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : 'another error'),
    )
    queue.enter(submission)
    return { submission, heard }
  }
  const fill = (lane: Lane) => [call(rowsPerLane, lane), call(rowsOutsideMax, lane)] as const
  return { clock, queue, call, fill }
}

test('rows that wait for a place in the queue are counted, and bounded: one more is refused at once', async () => {
  const { queue, call, fill } = fixture()
  const [inside] = fill('backfill')
  expect(queue.rows('backfill')).toBe(rowsPerLane + rowsOutsideMax)
  const refused = call(1, 'backfill')
  expect(refused.submission.settled).toBe(true)
  expect(await refused.heard).toContain('400000 rows of the backfill lane wait already')
  expect(queue.rows('backfill')).toBe(rowsPerLane + rowsOutsideMax)
  inside.submission.stored()
  expect(await inside.heard).toBe('stored')
  expect(call(1, 'backfill').submission.settled).toBe(false)
})

test('a backlog of history refuses no live rows', () => {
  const { queue, call, fill } = fixture()
  fill('backfill')
  expect(call(5_000, 'live').submission.settled).toBe(false)
  expect(queue.rows('live')).toBe(5_000)
  expect(queue.take().map(({ submission }) => submission.lane)).toEqual(['live'])
})

test('whoever waits outside of the queue hears at its deadline, and its place is free', async () => {
  const { clock, queue, fill } = fixture()
  const [inside, outside] = fill('live')
  await clock.advance(deadlineMs)
  for (const { heard } of [inside, outside]) expect(await heard).toContain('not written within 30000 ms')
  expect(queue.rows('live')).toBe(0)
  expect(queue.take()).toEqual([])
})
