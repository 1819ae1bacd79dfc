import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import type { Lane } from '../../core/bars/series.ts'
import { Unavailable } from '../../core/failure.ts'
import { feedKey } from '../../core/feeds/compound-key.ts'
import { backfillRowsMax, WriteQueue } from './queue.ts'
import { Submission, type SubmissionOptions, type Work, writeDeadlineMs } from './submission.ts'

const feed = feedKey('BROKERA', 'ZERO')
const other = feedKey('BROKERB', 'ZERO')
const work = (rows: number, table = 'a'): Work => ({
  table,
  feed: table === 'of other' ? other : feed,
  rows,
  bytes: Buffer.alloc(rows % 1_000),
})

function fixture() {
  const clock = createVirtualClock()
  let ready = 0
  const queue = new WriteQueue<Work>({ clock, rowsPerTake: 20_000, onReady: () => (ready += 1) })
  /** A caller, and how its write ended. */
  const call = (lane: Lane, works: readonly Work[], options: Partial<SubmissionOptions> = {}) => {
    const submission = new Submission(works, { lane, ...options }, clock)
    submission.onSettled = () => queue.leave(submission)
    const outcome = submission.done.then(
      () => 'stored',
      (cause: unknown) => (cause instanceof Unavailable ? String(cause.cause) : String(cause)),
    )
    if (!submission.isSettled) queue.enter(submission)
    return { submission, outcome }
  }
  const take = (isReady?: (table: string) => boolean) => queue.take(isReady)
  const rowsTaken = (isReady?: (table: string) => boolean) => take(isReady).map(({ work: { rows } }) => rows)
  return { clock, queue, call, take, rowsTaken, ready: () => ready }
}

test('a write of the backfill lane fails where 400,000 rows of it wait, and a live write does not', async () => {
  const { queue, call, take } = fixture()
  call('live', [work(backfillRowsMax)])
  const whole = call('backfill', [work(backfillRowsMax)])
  const refused = call('backfill', [work(1)])
  expect(await refused.outcome).toContain('the queue of the backfill lane is full (400000 rows)')
  expect([queue.rows('live'), queue.rows('backfill')]).toEqual([backfillRowsMax, backfillRowsMax])
  take()
  take()
  whole.submission.stored()
  expect(await whole.outcome).toBe('stored')
  expect(call('backfill', [work(1)]).submission.isSettled).toBe(false)
})

test('live rows of every table are taken before backfill rows of any table', () => {
  const { call, rowsTaken } = fixture()
  call('backfill', [work(1, 'a')])
  call('live', [work(2, 'b')])
  expect([rowsTaken(), rowsTaken(), rowsTaken()]).toEqual([[2], [1], []])
})

test('one take returns jobs up to its bound of rows; larger work is returned alone', () => {
  const { call, rowsTaken } = fixture()
  call('live', [work(5_000), work(15_000), work(1)])
  call('live', [work(30_000)])
  expect([rowsTaken(), rowsTaken(), rowsTaken(), rowsTaken()]).toEqual([[5_000, 15_000], [1], [30_000], []])
})

test('tables take turns when each has more rows than one take returns', () => {
  const { call, rowsTaken } = fixture()
  call('backfill', [work(20_000, 'a'), work(19_999, 'a')])
  call('backfill', [work(19_998, 'b')])
  expect([rowsTaken(), rowsTaken(), rowsTaken()]).toEqual([[20_000], [19_998], [19_999]])
})

test('a write without a deadline waits for an hour; one with a deadline fails then, and its rows are not taken', async () => {
  const { clock, queue, call, rowsTaken } = fixture()
  call('live', [work(1)])
  const late = call('live', [work(2)], { deadlineMs: writeDeadlineMs })
  await clock.advance(writeDeadlineMs)
  expect(await late.outcome).toContain('not written within 30000 ms')
  await clock.advance(3_600_000)
  expect(queue.rows('live')).toBe(1)
  expect([rowsTaken(), rowsTaken()]).toEqual([[1], []])
})

test('a table that fails is taken alone and after its own growing pause, while other tables go on', async () => {
  const { clock, queue, call, take, rowsTaken, ready } = fixture()
  call('live', [work(1, 'a')])
  call('live', [work(2, 'b')])
  queue.retry(take())
  expect(rowsTaken()).toEqual([])
  await clock.advance(100)
  expect(ready()).toBe(2)
  const first = take()
  expect(first.map(({ work: { table } }) => table)).toEqual(['a'])
  queue.retry(first)
  const second = take()
  expect(second.map(({ work: { table } }) => table)).toEqual(['b'])
  queue.accepted(second)
  call('live', [work(3, 'b')])
  call('live', [work(4, 'c')])
  expect(rowsTaken()).toEqual([3, 4])
  await clock.advance(199)
  expect(rowsTaken()).toEqual([])
  await clock.advance(1)
  expect(rowsTaken()).toEqual([1])
})

test('jobs that failed are taken before later jobs of their table', async () => {
  const { clock, queue, call, take, rowsTaken } = fixture()
  call('live', [work(1), work(2)])
  const taken = take()
  call('live', [work(3)])
  queue.retry(taken, 30_000)
  await clock.advance(29_999)
  expect(rowsTaken()).toEqual([])
  await clock.advance(1)
  expect(rowsTaken()).toEqual([1, 2, 3])
})

test('the store fails for as long as the table that fails for longest', async () => {
  const { clock, queue, call, take } = fixture()
  call('live', [work(1, 'a')])
  queue.retry(take(), 5_000)
  expect(queue.hasFailed).toBe(true)
  await clock.advance(5_000)
  call('live', [work(2, 'b')])
  const taken = take()
  expect(queue.failingMs).toBe(5_000)
  queue.accepted(taken)
  expect([queue.failingMs, queue.hasFailed]).toEqual([0, false])
})

test('a table that failed counts no more when what waited for it was given up', async () => {
  const { clock, queue, call, take } = fixture()
  const late = call('live', [work(1, 'a')], { deadlineMs: writeDeadlineMs })
  const taken = take()
  await clock.advance(writeDeadlineMs)
  expect(await late.outcome).toContain('not written within 30000 ms')
  queue.retry(taken)
  call('live', [work(2, 'b')])
  const others = take()
  queue.accepted(others)
  expect(queue.hasFailed).toBe(false)
})

test('tables that are not ready keep their jobs and hold back no others', () => {
  const { call, rowsTaken } = fixture()
  call('live', [work(1, 'a'), work(2, 'b')])
  expect(rowsTaken((table) => table !== 'a')).toEqual([2])
  expect(rowsTaken()).toEqual([1])
})

test('bytes that wait are counted by feed until they are stored', () => {
  const { queue, call, take } = fixture()
  const { submission } = call('live', [work(7), work(5)])
  call('backfill', [work(3, 'of other')])
  const whole = new Map([
    [feed, 12],
    [other, 3],
  ])
  expect(queue.bytes()).toEqual(whole)
  take()
  expect(queue.bytes()).toEqual(whole)
  submission.stored()
  submission.stored()
  expect(queue.bytes()).toEqual(new Map([[other, 3]]))
})

test('a signal drops what waits, and the write is rejected once what is under way has ended', async () => {
  const { queue, call, take, rowsTaken } = fixture()
  const hidden = new AbortController()
  const write = call('live', [work(20_000), work(2)], { signal: hidden.signal })
  const taken = take()
  hidden.abort(new Error('hidden'))
  expect(write.submission.isSettled).toBe(false)
  expect(rowsTaken()).toEqual([])
  queue.putBack(taken)
  expect(await write.outcome).toBe('Error: hidden')
  expect([queue.rows('live'), rowsTaken()]).toEqual([0, []])
  const dropped = call('live', [work(1)], { signal: hidden.signal })
  expect(await dropped.outcome).toBe('Error: hidden')
  expect(queue.rows('live')).toBe(0)
})

test('a write that ended leaves no listener on its signal', async () => {
  const { call, take } = fixture()
  const { signal } = new AbortController()
  let listeners = 0
  signal.addEventListener = () => void (listeners += 1)
  signal.removeEventListener = () => void (listeners -= 1)
  const { submission, outcome } = call('live', [work(1)], { signal })
  expect(listeners).toBe(1)
  take()
  submission.stored()
  expect(await outcome).toBe('stored')
  expect(listeners).toBe(0)
})
