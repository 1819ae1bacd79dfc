import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { DailyUsage } from './memory/daily-usage.ts'
import { embeddedSlots } from './slots.ts'

// If each call looked at all slots of the key, this would take ten seconds of a processor.
test('10,000 slots of one key are opened and closed before the timeout', async () => {
  const clock = createVirtualClock()
  const slots = embeddedSlots(new DailyUsage(clock, []), clock)
  const ids = Array.from({ length: 10_000 }, (_, i) => `session ${i}`)
  for (const id of ids) await slots.open('key', id, ids.length)
  // The timeout of a test is noticed between two turns of the event loop.
  await nextTurn()
  expect(await slots.open('key', 'one more', ids.length)).toEqual({ outcome: 'full', inUse: ids.length })
  for (const id of ids) await slots.close('key', id)
  await nextTurn()
  expect(await slots.inUse('key')).toBe(0)
}, 5_000)
