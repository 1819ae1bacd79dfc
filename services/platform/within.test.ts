import { expect, test, vi } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Late, within } from './within.ts'

test('work that takes too long rejects as late, and its resources are freed once', async () => {
  const clock = createVirtualClock()
  const giveUp = vi.fn<() => void>()
  const result = within(clock, 100, 'the answer', new Promise(() => undefined), giveUp).catch(
    (cause: unknown) => cause,
  )
  await clock.advance(99)
  expect(giveUp).not.toHaveBeenCalled()
  await clock.advance(1)
  expect(await result).toEqual(new Late('the answer took longer than 100 ms'))
  expect(giveUp).toHaveBeenCalledTimes(1)
})

test('after a stall an answer that already arrived wins over the timeout', async () => {
  let fire = (): void => undefined
  const after = (_: number, run: () => void) => {
    fire = run
    return () => undefined
  }
  const giveUp = vi.fn<() => void>()
  const answer = Promise.withResolvers<string>()
  const result = within({ ...createVirtualClock(), after }, 100, 'the answer', answer.promise, giveUp)
  // Timers run before data that waits at sockets is read.
  fire()
  setImmediate(() => answer.resolve('in time'))
  expect(await result).toBe('in time')
  await new Promise<void>((passed) => void setImmediate(() => setImmediate(passed)))
  expect(giveUp).not.toHaveBeenCalled()
})
