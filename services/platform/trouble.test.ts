import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { Failures, Trouble } from './trouble.ts'

function fixture() {
  const clock = createVirtualClock()
  const trouble = new Trouble(clock)
  return { clock, trouble }
}

test('trouble lasts from the first request without an answer, however often it is sent again, to the first answer', async () => {
  const { clock, trouble } = fixture()
  expect(trouble.ms).toBe(0)
  for (let i = 0; i < 5; i++) {
    trouble.asked()
    await clock.advance(9_000)
  }
  expect(trouble.ms).toBe(45_000)
  trouble.answered()
  expect(trouble.ms).toBe(0)
  trouble.asked()
  await clock.advance(1_000)
  expect(trouble.ms).toBe(1_000)
})

test('of a failure that nobody met again for a minute nothing is known any more', async () => {
  const { clock, trouble } = fixture()
  trouble.asked()
  await clock.advance(60_000)
  expect(trouble.ms).toBe(60_000)
  await clock.advance(1)
  expect(trouble.ms).toBe(0)
  trouble.asked()
  await clock.advance(2_000)
  expect(trouble.ms).toBe(2_000)
})

test('what fails again and again has lasted from the first time to the last, and once is not yet for long', async () => {
  const clock = createVirtualClock()
  const failures = new Failures(clock)
  expect(failures.ms).toBe(0)
  failures.happened()
  await clock.advance(20_000)
  expect(failures.ms).toBe(0)
  failures.happened()
  await clock.advance(60_000)
  expect(failures.ms).toBe(20_000)
  await clock.advance(1)
  expect(failures.ms).toBe(0)
  failures.happened()
  expect(failures.ms).toBe(0)
})
