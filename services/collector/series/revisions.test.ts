import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { Revisions } from './revisions.ts'

const eurusd = { symbol: 'EURUSD', resolution: '1' } as const

test('a later reading of a series has a greater revision, even after the clock was set back a little', () => {
  const clock = createVirtualClock()
  let aheadMs = 0
  const revisions = new Revisions({ utcMs: () => utcMs(clock.utcMs() + aheadMs) })
  const first = revisions.next(eurusd)
  expect(revisions.next(eurusd)).toBe(first + 1)
  aheadMs = -1_000
  expect(revisions.next(eurusd)).toBe(first + 2)
})

test('after the clock was set back by more than ingest accepts, revisions begin again at its time', () => {
  const clock = createVirtualClock()
  let aheadMs = 0
  const revisions = new Revisions({ utcMs: () => utcMs(clock.utcMs() + aheadMs) })
  revisions.next(eurusd)
  aheadMs = -60_000
  expect(revisions.next(eurusd)).toBe(clock.utcMs() - 60_000)
  expect(revisions.next(eurusd)).toBe(clock.utcMs() - 60_000 + 1)
})

test('when many series close at once, no revision runs ahead of the clock', () => {
  const clock = createVirtualClock()
  const revisions = new Revisions(clock)
  const given = Array.from({ length: 20_000 }, (_, i) =>
    revisions.next({ symbol: `SYM${i}`, resolution: '1' }),
  )
  expect(new Set(given)).toEqual(new Set([clock.utcMs()]))
})
