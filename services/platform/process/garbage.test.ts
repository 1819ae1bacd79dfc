import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { collectBeforeMinuteEnd } from './garbage.ts'

test('garbage is collected in second 50 of each minute until the process stops', async () => {
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12, 0, 20) })
  const collectedMs: number[] = []
  const stop = collectBeforeMinuteEnd(clock, () => collectedMs.push(clock.monotonicMs()))
  await clock.advance(180_000)
  expect(collectedMs).toEqual([30_000, 90_000, 150_000])
  stop()
  await clock.advance(180_000)
  expect(collectedMs).toHaveLength(3)
})

test('a process that starts after second 50 collects first in the next minute', async () => {
  const clock = createVirtualClock({ start: Date.UTC(2026, 0, 5, 12, 0, 55) })
  const collectedMs: number[] = []
  collectBeforeMinuteEnd(clock, () => collectedMs.push(clock.monotonicMs()))
  await clock.advance(60_000)
  expect(collectedMs).toEqual([55_000])
})
