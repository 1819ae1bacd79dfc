import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { Stamps } from './stamps.ts'

const eurusd = { symbol: 'EURUSD', resolution: '1' } as const

test('a later reading of a series has a greater revision, even after the clock was set back a little', () => {
  const clock = createVirtualClock()
  const stamps = new Stamps(clock)
  const first = stamps.next(eurusd)
  expect(stamps.next(eurusd)).toBe(first + 1)
  stamps.offsetMs = -1_000
  expect(stamps.next(eurusd)).toBe(first + 2)
})

test('after the clock was set back by more than ingest accepts, revisions begin again at its time', () => {
  const clock = createVirtualClock()
  const stamps = new Stamps(clock)
  stamps.next(eurusd)
  stamps.offsetMs = -60_000
  expect(stamps.next(eurusd)).toBe(clock.utcMs() - 60_000)
  expect(stamps.next(eurusd)).toBe(clock.utcMs() - 60_000 + 1)
})

test('when many series close at once, no revision runs ahead of the clock', () => {
  const clock = createVirtualClock()
  const stamps = new Stamps(clock)
  const revisions = Array.from({ length: 20_000 }, (_, i) =>
    stamps.next({ symbol: `SYM${i}`, resolution: '1' }),
  )
  expect(new Set(revisions)).toEqual(new Set([clock.utcMs()]))
})
