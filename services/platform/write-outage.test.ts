import { expect, test } from 'vitest'
import { createVirtualClock } from '../../test/support/fixtures/virtual-clock.ts'
import { WriteOutage } from './write-outage.ts'

function fixture() {
  const clock = createVirtualClock()
  const trouble = new WriteOutage(clock)
  return { clock, trouble }
}

test('an outage of writes lasts from the first unanswered request, over its retries, to the first answer', async () => {
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

test('an outage of writes is forgotten after a minute without a request', async () => {
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
