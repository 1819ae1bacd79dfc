import { expect, test } from 'vitest'
import { WorkInFlight } from './work-in-flight.ts'

const turn = () => new Promise((resolve) => void setImmediate(resolve))

/** Work that ends when the test says so. */
function begin(inFlight: WorkInFlight) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  inFlight.add('1', 1, promise)
  return { resolve, reject }
}

test('a caller waits for the work that was added before its call, in any order of its ends, and for no later work', async () => {
  const inFlight = new WorkInFlight(() => undefined)
  const [first, second] = [begin(inFlight), begin(inFlight)]
  let isSettled = false
  const settled = inFlight.settled('1').then(() => (isSettled = true))
  begin(inFlight)
  second.resolve()
  await turn()
  expect(isSettled).toBe(false)
  first.resolve()
  await settled
  expect(inFlight.isEmpty('1')).toBe(false)
})

test('callers get a failure while other work is in flight; once all has ended, later callers do not', async () => {
  const inFlight = new WorkInFlight(() => undefined)
  const [failing, other] = [begin(inFlight), begin(inFlight)]
  const early = inFlight.settled('1')
  failing.reject(new Error('the session ended'))
  await expect(early).rejects.toThrow('the session ended')
  await expect(inFlight.settled('1')).rejects.toThrow('the session ended')
  other.resolve()
  await turn()
  expect(inFlight.isEmpty('1')).toBe(true)
  await inFlight.settled('1')
})
