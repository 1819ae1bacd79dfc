import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import type { Bar } from '../core/bars/bar.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import { Compared, rememberedMax } from './compared.ts'

const settleMs = 1_000
const bar = (minute: number, close = 1.1): Bar => ({
  time: (minute * 60) as FeedSeconds,
  open: 1.1,
  high: 1.2,
  low: 1,
  close,
  volume: 3,
})
const bars = (first: number, last: number): readonly Bar[] =>
  Array.from({ length: last - first + 1 }, (_, i) => bar(first + i))
const none = { missed: 0, differing: 0 }

/** Follows the symbol after minute 0 on an open socket. */
function following(): Compared {
  const compared = new Compared(settleMs)
  compared.follow(0)
  compared.live(true, 0)
  return compared
}

test('a pushed bar is not missed and does not differ', () => {
  const compared = following()
  compared.pushed(bar(1), 0)
  expect(compared.compare(bars(0, 1), settleMs * 5)).toEqual(none)
  expect(compared.newest).toBe(60)
})

test('a bar of history that is not pushed within the settling time is missed once', () => {
  const compared = following()
  expect(compared.compare(bars(0, 1), 0)).toEqual(none)
  expect(compared.compare(bars(0, 1), settleMs - 1)).toEqual(none)
  expect(compared.compare(bars(0, 1), settleMs)).toEqual({ missed: 1, differing: 0 })
  expect(compared.compare(bars(0, 1), settleMs * 2)).toEqual(none)
})

test('a bar that is pushed within the settling time after history has it is not missed', () => {
  const compared = following()
  compared.compare(bars(0, 1), 0)
  compared.pushed(bar(1), settleMs - 1)
  expect(compared.compare(bars(0, 1), settleMs * 3)).toEqual(none)
})

test('bars that a gap names are not missed, those outside it are', () => {
  const compared = following()
  compared.gap({ after: 60, until: 180 }, undefined)
  compared.compare(bars(0, 4), 0)
  expect(compared.compare(bars(0, 4), settleMs)).toEqual({ missed: 2, differing: 0 })
})

test('a gap without an end covers bars that may be closed when it arrives, later ones are missed', () => {
  const compared = following()
  compared.gap({ after: 0 }, 3 * 60 + 50)
  compared.compare(bars(0, 4), 0)
  expect(compared.compare(bars(0, 4), settleMs)).toEqual({ missed: 2, differing: 0 })
})

test('a gap without an end covers a bar that closes within the slack of the clocks', () => {
  const compared = following()
  compared.gap({ after: 0 }, 2 * 60 - 5)
  compared.compare(bars(0, 2), 0)
  expect(compared.compare(bars(0, 2), settleMs)).toEqual({ missed: 1, differing: 0 })
})

test('gaps without an end and with an unknown clock end at the newest bar of the next comparison', () => {
  const compared = following()
  compared.gap({}, undefined)
  compared.gap({ after: 60 }, undefined)
  expect(compared.compare([], 0)).toEqual(none)
  compared.compare(bars(0, 3), 0)
  expect(compared.compare(bars(0, 3), settleMs)).toEqual(none)
  compared.compare(bars(0, 5), settleMs)
  expect(compared.compare(bars(0, 5), settleMs * 2)).toEqual({ missed: 2, differing: 0 })
})

test('a bar that history gets while the socket is closed is missed after the settling time on the next socket', () => {
  const compared = following()
  compared.live(false, 0)
  compared.compare(bars(0, 1), 0)
  expect(compared.compare(bars(0, 1), settleMs * 9)).toEqual(none)
  compared.live(true, settleMs * 10)
  expect(compared.compare(bars(0, 1), settleMs * 11 - 1)).toEqual(none)
  expect(compared.compare(bars(0, 1), settleMs * 11)).toEqual({ missed: 1, differing: 0 })
})

test('a bar is missed when the times of several short sockets add up to the settling time', () => {
  const compared = following()
  compared.compare(bars(0, 1), 0)
  compared.live(false, settleMs * 0.4)
  compared.live(true, settleMs * 3)
  compared.live(true, settleMs * 3.2)
  compared.live(false, settleMs * 3.4)
  expect(compared.compare(bars(0, 1), settleMs * 9)).toEqual(none)
  compared.live(true, settleMs * 10)
  expect(compared.compare(bars(0, 1), settleMs * 10.2 - 1)).toEqual(none)
  expect(compared.compare(bars(0, 1), settleMs * 10.2)).toEqual({ missed: 1, differing: 0 })
})

test('a bar that history has with other values, or no longer has, differs once', () => {
  const compared = following()
  compared.pushed(bar(1), 0)
  compared.pushed(bar(2), 0)
  expect(compared.compare([bar(0), bar(1, 1.15), bar(2)], 0)).toEqual({ missed: 0, differing: 1 })
  expect(compared.compare([bar(0), bar(1, 1.16)], settleMs - 1)).toEqual(none)
  expect(compared.compare([bar(0), bar(1, 1.16)], settleMs)).toEqual({ missed: 0, differing: 1 })
  expect(compared.compare([bar(0), bar(1, 1.16)], settleMs * 2)).toEqual(none)
})

test('bars before the symbol was followed are not compared', () => {
  const compared = new Compared(settleMs)
  compared.live(true, 0)
  expect(compared.newest).toBeUndefined()
  compared.compare(bars(0, 3), 0)
  expect(compared.compare(bars(0, 3), settleMs)).toEqual(none)
  compared.pushed(bar(5), settleMs)
  compared.compare(bars(0, 6), settleMs)
  expect(compared.compare(bars(0, 6), settleMs * 2)).toEqual({ missed: 1, differing: 0 })
})

describe('a client that receives some of the bars', () => {
  const fate = fc.constantFrom('pushed', 'late', 'named', 'withheld', 'corrected')

  test('misses exactly the withheld bars, and remembers a bounded number', () => {
    fc.assert(
      fc.property(
        fc.array(fate, { minLength: 1, maxLength: 500 }),
        fc.integer({ min: 1, max: 60 }),
        (fates, each) => {
          const compared = following()
          const history: Bar[] = [bar(0)]
          const late: { bar: Bar; atMs: number }[] = []
          const found = { missed: 0, differing: 0 }
          let nowMs = 0
          const look = (): void => {
            const { missed, differing } = compared.compare(history.slice(-rememberedMax), nowMs)
            found.missed += missed
            found.differing += differing
            expect(compared.size).toBeLessThanOrEqual(rememberedMax)
          }
          fates.forEach((what, i) => {
            const minute = i + 1
            nowMs += 100
            for (const one of late.splice(0)) compared.pushed(one.bar, nowMs)
            if (what === 'pushed' || what === 'corrected') compared.pushed(bar(minute), nowMs)
            if (what === 'late') late.push({ bar: bar(minute), atMs: nowMs })
            if (what === 'named') compared.gap({ after: minute * 60 - 1, until: minute * 60 }, undefined)
            history.push(bar(minute, what === 'corrected' ? 1.15 : 1.1))
            if (minute % each === 0) look()
          })
          for (const one of late.splice(0)) compared.pushed(one.bar, nowMs)
          for (let looks = 0; looks < 2; looks += 1) {
            nowMs += settleMs
            look()
          }
          const count = (what: string): number => fates.filter((one) => one === what).length
          expect(found).toEqual({ missed: count('withheld'), differing: count('corrected') })
        },
      ),
      { numRuns: Math.ceil(100 * effort) },
    )
  })
})
