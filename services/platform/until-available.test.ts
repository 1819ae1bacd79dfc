import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Unavailable } from '../core/failure.ts'
import { silentLog } from './log/log.ts'
import { EndedWhileWaiting, untilAvailable } from './until-available.ts'

const failing = (times: number, cause: Error = new Unavailable('store')) => {
  let calls = 0
  const run = async (): Promise<number> => {
    if (++calls <= times) throw cause
    return calls
  }
  return { run, calls: () => calls }
}

test('an unavailable store is retried with growing pauses of at most five seconds', async () => {
  const clock = createVirtualClock()
  const store = failing(9)
  const begun = clock.monotonicMs()
  const callTimes: number[] = []
  const waiting = untilAvailable(
    () => {
      callTimes.push(clock.monotonicMs() - begun)
      return store.run()
    },
    { clock, log: silentLog },
  )
  await clock.advance(60_000)
  expect(await waiting).toBe(10)
  const pauses = callTimes.slice(1).map((at, i) => at - (callTimes[i] as number))
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000])
})

test('a failure other than Unavailable is passed on at once', async () => {
  const clock = createVirtualClock()
  const store = failing(1, new RangeError('wrong'))
  await expect(untilAvailable(store.run, { clock, log: silentLog })).rejects.toThrow('wrong')
  expect(store.calls()).toBe(1)
})

test('the wait ends at once when the process is asked to end while the store does not answer', async () => {
  const clock = createVirtualClock()
  const ending = new AbortController()
  const silent = (): Promise<never> => new Promise(() => undefined)
  const waiting = untilAvailable(silent, { clock, log: silentLog, ending: ending.signal })
  ending.abort()
  await expect(waiting).rejects.toThrow(EndedWhileWaiting)
})

test('the wait ends when the process is asked to end', async () => {
  const clock = createVirtualClock()
  const ending = new AbortController()
  const store = failing(Number.POSITIVE_INFINITY)
  const waiting = untilAvailable(store.run, { clock, log: silentLog, ending: ending.signal })
  const outcome = waiting.catch((cause: unknown) => cause)
  await clock.advance(1_000)
  ending.abort()
  await clock.advance(0)
  expect(await outcome).toBeInstanceOf(EndedWhileWaiting)
})
