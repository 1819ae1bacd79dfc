import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Overloaded, Unavailable } from '../core/failure.ts'
import { systemClock } from '../platform/system-clock.ts'
import { answerMs, KeyConcurrency, underWayMax, waitingMax, waitMs } from './key-concurrency.ts'

type Outcome = 'waits' | 'in' | 'refused' | 'dropped'

function start() {
  const clock = createVirtualClock()
  const concurrency = new KeyConcurrency(clock)
  const enter = (key: string, { endMs = Number.POSITIVE_INFINITY, ended = false } = {}) => {
    const seen: { outcome: Outcome } = { outcome: 'waits' }
    concurrency.enter(key, { endMs, ended }).then(
      () => (seen.outcome = 'in'),
      (error: unknown) => {
        if (!(error instanceof Unavailable)) expect.unreachable()
        seen.outcome = error instanceof Overloaded ? 'refused' : 'dropped'
      },
    )
    return seen
  }
  const enterMany = (key: string, count: number) => Array.from({ length: count }, () => enter(key))
  return { clock, concurrency, enter, enterMany }
}

const outcomes = (seen: readonly { outcome: Outcome }[]): Outcome[] => seen.map(({ outcome }) => outcome)
const times = (count: number, outcome: Outcome): Outcome[] => Array.from({ length: count }, () => outcome)

test('16 requests of one key run, further ones are queued and run in order of arrival', async () => {
  const { clock, concurrency, enterMany } = start()
  const seen = enterMany('a', underWayMax + 3)
  await clock.advance(0)
  expect(outcomes(seen)).toEqual([...times(underWayMax, 'in'), ...times(3, 'waits')])
  concurrency.leave('a')
  concurrency.leave('a')
  await clock.advance(0)
  expect(outcomes(seen.slice(underWayMax))).toEqual(['in', 'in', 'waits'])
  expect(concurrency.waiting).toBe(1)
})

test('a key at its maximum delays no other key', async () => {
  const { clock, enter, enterMany } = start()
  enterMany('a', 100)
  const other = enter('b')
  await clock.advance(0)
  expect(other.outcome).toBe('in')
})

test('requests of all keys that waited too long are refused, 16 in each turn of the event loop', async () => {
  const { clock, concurrency, enterMany } = start()
  const late = ['a', 'b'].flatMap((key) => {
    enterMany(key, underWayMax)
    return enterMany(key, 40)
  })
  await clock.advance(waitMs - 1)
  expect(outcomes(late)).toEqual(times(80, 'waits'))
  // Timers of two keys would run in one turn.
  expect(clock.pending).toBe(1)
  const counts = [0]
  const look = (): void => {
    counts.push(concurrency.refused)
    if (concurrency.refused < 80) setImmediate(look)
  }
  setImmediate(look)
  await clock.advance(1)
  await expect.poll(() => outcomes(late)).toEqual(times(80, 'refused'))
  const steps = counts.map((count, i) => count - (counts[i - 1] ?? 0))
  expect(Math.max(...steps)).toBe(16)
})

test('16 late requests are refused in each turn of the event loop, also if their answers take longer than a timer', async () => {
  const concurrency = new KeyConcurrency({ ...systemClock, after: (_, run) => systemClock.after(1, run) })
  let refusedInTurn = 0
  let most = 0
  const endMs = performance.now()
  const enter = () => concurrency.enter('a', { endMs, ended: false })
  for (let n = 0; n < underWayMax; n++) void enter()
  const work = (): void => {
    refusedInTurn += 1
    most = Math.max(most, refusedInTurn)
    const end = performance.now() + 0.2
    while (performance.now() < end);
  }
  const late = Array.from({ length: 80 }, () => enter().catch(work))
  const reset = (): void => {
    refusedInTurn = 0
    if (concurrency.refused < 80) setImmediate(reset)
  }
  setImmediate(reset)
  await Promise.all(late)
  expect(most).toBe(16)
})

test('a request is refused in time to be answered before its deadline, also behind one that may wait longer', async () => {
  const { clock, enter, enterMany } = start()
  enterMany('a', underWayMax)
  const [long, short] = [enter('a'), enter('a', { endMs: 1_000 })]
  await clock.advance(1_000 - answerMs - 1)
  expect(outcomes([long, short])).toEqual(['waits', 'waits'])
  await clock.advance(1)
  expect(outcomes([long, short])).toEqual(['waits', 'refused'])
  await clock.advance(waitMs)
  expect(outcomes([long, short])).toEqual(['refused', 'refused'])
})

test('a request is refused at once if 1,024 of its key are queued', async () => {
  const { clock, enter, enterMany } = start()
  enterMany('a', underWayMax + waitingMax)
  const [one, ofOther] = [enter('a'), enter('b')]
  await clock.advance(0)
  expect([one.outcome, ofOther.outcome]).toEqual(['refused', 'in'])
})

test('a queued request whose client is gone does not run', async () => {
  const { clock, concurrency, enter, enterMany } = start()
  enterMany('a', underWayMax)
  const [gone, next] = [enter('a', { ended: true }), enter('a')]
  concurrency.leave('a')
  await clock.advance(0)
  expect([gone.outcome, next.outcome, concurrency.refused]).toEqual(['dropped', 'in', 0])
})

test('nothing is kept for a key whose requests are done', async () => {
  const { clock, concurrency, enterMany } = start()
  const seen = enterMany('a', underWayMax + 5)
  for (const _ of seen) concurrency.leave('a')
  await clock.advance(0)
  expect(outcomes(seen)).toEqual(times(seen.length, 'in'))
  expect([concurrency.keys, concurrency.waiting, clock.pending]).toEqual([0, 0, 0])
})
