import { expect, test } from 'vitest'
import { systemClock } from '../system-clock.ts'
import { RequestTurns, turnMsMax } from './request-turns.ts'

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('requests beyond the time of a turn start in the next turns, in the order of their arrival', async () => {
  let now = 0
  const turns = new RequestTurns({ ...systemClock, monotonicMs: () => now })
  const started: number[] = []
  const arrive = (n: number): void =>
    turns.start(() => {
      started.push(n)
      now += turnMsMax / 2
    })
  for (let n = 1; n <= 5; n++) arrive(n)
  expect(started).toEqual([1, 2])
  await turn()
  expect(started).toEqual([1, 2, 3, 4])
  arrive(6)
  expect(started).toEqual([1, 2, 3, 4])
  await turn()
  expect(started).toEqual([1, 2, 3, 4, 5, 6])
  await turn()
  arrive(7)
  expect(started).toHaveLength(7)
})
