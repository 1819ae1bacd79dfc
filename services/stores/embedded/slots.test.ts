import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { DailyUsage } from './memory/daily-usage.ts'
import { embeddedSlots } from './slots.ts'

test('a call looks at one slot of its key and not at all of them', async () => {
  const virtual = createVirtualClock()
  let looks = 0
  // The clock is read for each slot that is looked at.
  const clock = {
    ...virtual,
    monotonicMs: () => {
      looks += 1
      return virtual.monotonicMs()
    },
  }
  const slots = embeddedSlots(new DailyUsage(virtual, []), clock)
  const ids = Array.from({ length: 1_000 }, (_, i) => `session ${i}`)
  for (const id of ids) await slots.open('key', id, ids.length)
  expect(await slots.open('key', 'one more', ids.length)).toEqual({ outcome: 'full', inUse: ids.length })
  for (const id of ids) await slots.close('key', id)
  expect(await slots.inUse('key')).toBe(0)
  expect(looks).toBeLessThan(5 * ids.length)
})
