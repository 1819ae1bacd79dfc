import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Overloaded, Unavailable } from '../core/failure.ts'
import { turnsBetween } from '../platform/after-turns.ts'
import { systemClock } from '../platform/system-clock.ts'
import { FairTurns, turnWaitMs } from './fair-turns.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('one answer starts per 16 empty turns of the event loop, and keys take turns', async () => {
  const turns = new FairTurns({ ...systemClock, monotonicMs: () => 0 })
  const started: string[] = []
  for (const key of ['a', 'a', 'a', 'b'])
    void turns.enter({ key, sinceMs: started.length }).then(() => started.push(key))
  for (const expected of [['a'], ['a', 'a'], ['a', 'a', 'b'], ['a', 'a', 'b', 'a']]) {
    await Promise.resolve()
    for (let n = 0; n < turnsBetween; n++) {
      expect(started).toEqual(expected)
      await turn()
    }
  }
})

test('an answer for a client that disconnected takes no turn and is not overload', async () => {
  const turns = new FairTurns(systemClock)
  const started: string[] = []
  const client = { key: 'a', sinceMs: 1, isGone: false }
  void turns.enter({ key: 'a', sinceMs: 0 }).then(() => started.push('first'))
  const gone = turns.enter(client)
  void turns.enter({ key: 'a', sinceMs: 2 }).then(() => started.push('last'))
  client.isGone = true
  const cause = await gone.catch((each: unknown) => each)
  expect(cause).toBeInstanceOf(Unavailable)
  expect(cause).not.toBeInstanceOf(Overloaded)
  expect(started).toEqual(['first', 'last'])
})

test('an answer that waited too long for its turn is refused as overload', async () => {
  const clock = createVirtualClock()
  const turns = new FairTurns({ ...clock, soon: () => undefined })
  await turns.enter({ key: 'a', sinceMs: 0 })
  const late = turns.enter({ key: 'a', sinceMs: 1 }).catch((cause: unknown) => cause)
  await clock.advance(turnWaitMs)
  expect(await late).toBeInstanceOf(Overloaded)
  expect(clock.pending).toBe(0)
})
