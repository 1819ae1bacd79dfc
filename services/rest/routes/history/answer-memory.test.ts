import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../../../core/failure.ts'
import { deadlineMs } from '../../deadline.ts'
import { AnswerMemory, readMsMaxWhileOthersWait, waitingMax, waitMs } from './answer-memory.ts'

/** Four keys have a quarter each, and one answer is oversize; returns one of the four. */
async function fill(memory: AnswerMemory) {
  const [first] = await Promise.all(
    ['p', 'q', 'r', 's'].map(async (key) => {
      const reservation = memory.open(key)
      await reservation.grow(25)
      return reservation
    }),
  )
  await memory.open('t').grow(1)
  if (first === undefined) throw new Error('nothing was opened')
  return first
}

/** The current outcome of a wait. */
const follow = (wait: Promise<void>) => {
  const seen: { outcome: 'waits' | 'in' | 'refused' } = { outcome: 'waits' }
  void wait.then(
    () => (seen.outcome = 'in'),
    (error: unknown) => (seen.outcome = error instanceof Unavailable ? 'refused' : expect.unreachable()),
  )
  return seen
}

describe('the memory for long answers', () => {
  const max = 100

  test('is shared by bytes, is granted in order of waiting, and is freed once', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    const answers = ['a', 'b', 'c', 'd'].map((key) => memory.open(key))
    for (const reservation of answers) await reservation.grow(25)
    const oversize = memory.open('e')
    await oversize.grow(10)
    const waits = [follow(memory.open('f').grow(20)), follow(memory.open('g').grow(10))]
    await clock.advance(0)
    expect(waits).toEqual([{ outcome: 'waits' }, { outcome: 'waits' }])
    expect([memory.bytes, memory.answers, memory.waiting]).toEqual([110, 5, 2])
    answers[0]?.leave()
    answers[0]?.leave()
    await clock.advance(0)
    expect(waits).toEqual([{ outcome: 'in' }, { outcome: 'waits' }])
    oversize.leave()
    await clock.advance(0)
    expect(waits).toEqual([{ outcome: 'in' }, { outcome: 'in' }])
    expect([memory.bytes, memory.answers, memory.waiting]).toEqual([105, 5, 0])
    expect(clock.pending).toBe(0)
  })

  test('a key with its quarter and the oversize answer delays no other key', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    await memory.open('a').grow(1_000)
    await memory.open('a').grow(25)
    const ofKey = follow(memory.open('a').grow(1))
    const ofOthers = ['b', 'c', 'd'].map((key) => follow(memory.open(key).grow(25)))
    await clock.advance(0)
    expect(ofKey.outcome).toBe('waits')
    expect(ofOthers).toEqual(Array(3).fill({ outcome: 'in' }))
  })

  test('half-read answers never wait for each other: one may be oversize, the next one after it was read', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    const [first, second] = [memory.open('a'), memory.open('a')]
    await first.grow(15)
    await second.grow(10)
    await first.grow(90)
    await first.grow(300)
    await second.grow(25)
    const growing = follow(second.grow(60))
    const entering = follow(memory.open('a').grow(1))
    await clock.advance(0)
    expect([growing, entering]).toEqual([{ outcome: 'waits' }, { outcome: 'waits' }])
    first.leave()
    await clock.advance(0)
    expect([growing, entering]).toEqual([{ outcome: 'in' }, { outcome: 'in' }])
    expect(memory.bytes).toBe(61)
  })

  test('after an oversize answer the next one is of another key that waits, before the waiting ones of its key', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    const [first, half] = [memory.open('a'), memory.open('a')]
    await half.grow(20)
    await first.grow(300)
    const ofKey = follow(half.grow(300))
    const ofOther = follow(memory.open('b').grow(300))
    await clock.advance(0)
    expect([ofKey, ofOther]).toEqual([{ outcome: 'waits' }, { outcome: 'waits' }])
    first.leave()
    await clock.advance(0)
    expect([ofKey, ofOther]).toEqual([{ outcome: 'waits' }, { outcome: 'in' }])
  })

  test('an oversize answer is cut once its client has read for too long and an answer of another key waits', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    const oversize = memory.open('a')
    await oversize.grow(300)
    let cuts = 0
    oversize.begin(() => {
      cuts += 1
      oversize.leave()
    })
    await clock.advance(readMsMaxWhileOthersWait(300) - 1)
    const early = follow(memory.open('b').grow(300))
    await clock.advance(waitMs)
    const ofKey = follow(memory.open('a').grow(300))
    await clock.advance(0)
    expect([cuts, early, ofKey]).toEqual([0, { outcome: 'refused' }, { outcome: 'waits' }])
    const late = follow(memory.open('b').grow(300))
    await clock.advance(0)
    expect([cuts, late, ofKey]).toEqual([1, { outcome: 'in' }, { outcome: 'waits' }])
  })

  test('is waited for at most the maximum, which is within a request’s two seconds', async () => {
    const clock = createVirtualClock()
    const memory = new AnswerMemory(clock, max)
    const first = await fill(memory)
    const late = follow(memory.open('b').grow(1))
    await clock.advance(waitMs - 1)
    const next = follow(memory.open('c').grow(1))
    await clock.advance(1)
    expect([late, next]).toEqual([{ outcome: 'refused' }, { outcome: 'waits' }])
    first.leave()
    await clock.advance(0)
    expect(next.outcome).toBe('in')
    expect([memory.refused, clock.pending]).toEqual([1, 0])
    expect(waitMs).toBeLessThan(deadlineMs)
  })

  test('has at most the maximum number of waiting answers', async () => {
    const memory = new AnswerMemory(createVirtualClock(), max)
    await fill(memory)
    for (let i = 0; i < waitingMax; i++) void memory.open(`w${i}`).grow(1)
    await expect(memory.open('z').grow(1)).rejects.toBeInstanceOf(Unavailable)
    expect([memory.waiting, memory.refused]).toEqual([waitingMax, 1])
  })

  test('is never exceeded by more than one answer, and all of it is freed at the end', async () => {
    const anyAnswer = fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.array(anyAnswer, { minLength: 1, maxLength: 20 }), async (answers) => {
        const clock = createVirtualClock()
        const memory = new AnswerMemory(clock, max)
        const largest = Math.max(...answers.map((steps) => steps.reduce((sum, step) => sum + step, 0)))
        let most = 0
        const run = async (steps: readonly number[], i: number): Promise<void> => {
          const reservation = memory.open(`key ${i % 3}`)
          try {
            for (const step of steps) {
              await reservation.grow(reservation.bytes + step)
              most = Math.max(most, memory.bytes)
              await clock.sleep(10)
            }
          } finally {
            reservation.leave()
          }
        }
        const all = Promise.allSettled(answers.map(run))
        await clock.advance(20_000)
        await all
        expect(most).toBeLessThanOrEqual(max + largest)
        expect([memory.bytes, memory.answers, memory.waiting, clock.pending]).toEqual([0, 0, 0, 0])
      }),
    )
  })
})
