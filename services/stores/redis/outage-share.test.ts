import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { decide, noUse, type RateUse } from '../../core/keys/rate-window.ts'
import { decideByShare, type KnownUse, nothingKnown } from './outage-share.ts'

const minuteMs = 60_000
const noonMs = utcMs(Date.UTC(2026, 0, 5, 12))

/** How many of a hundred requests at one moment one pod admits. */
function admittedByShare(known: KnownUse, limits: { rpm: number; rpd: number }, pods: number | undefined) {
  let [state, admitted] = [known, 0]
  for (let i = 0; i < 100; i++) {
    const { next, decision } = decideByShare('admit', state, limits, noonMs, pods)
    state = next
    if (decision.outcome === 'admitted') admitted += 1
  }
  return { admitted, state }
}

const used = (count: number): RateUse => {
  let use = noUse
  for (let i = 0; i < count; i++) use = decide('admit', use, { rpm: 1_000, rpd: 1_000 }, noonMs).next
  return use
}

test('in an outage a key is admitted per window at most its limit and one per pod, in addition to its earlier requests', () => {
  const anyPods = fc.array(fc.nat(30), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.nat(30), fc.nat(30), anyPods, (rpm, rpd, seenByPods) => {
      const pods = seenByPods.length
      const sum = seenByPods.reduce((total, seen) => {
        const known = { seen: used(seen), own: noUse }
        return total + admittedByShare(known, { rpm, rpd }, pods).admitted
      }, 0)
      expect(sum).toBeLessThanOrEqual(Math.min(rpm, rpd) + pods)
    }),
  )
})

test.each([
  [{ rpm: 60, rpd: 1_000 }, 20, 4, 10],
  [{ rpm: 60, rpd: 30 }, 20, 4, 2],
  [{ rpm: 60, rpd: 1_000 }, 60, 4, 1],
  [{ rpm: 3, rpd: 1_000 }, 0, 9, 1],
  [{ rpm: 0, rpd: 1_000 }, 0, 9, 0],
  [{ rpm: 60, rpd: 1_000 }, 0, undefined, 1],
])('with limits %j and %i used, one of %s pods admits %i', (limits, seen, pods, admitted) => {
  expect(admittedByShare({ seen: used(seen), own: noUse }, limits, pods).admitted).toBe(admitted)
})

test('a second outage in one window adds no second share', () => {
  const limits = { rpm: 40, rpd: 1_000 }
  const { state } = admittedByShare({ seen: used(20), own: noUse }, limits, 2)
  expect(admittedByShare({ ...state, seen: used(30) }, limits, 2).admitted).toBe(0)
})

test('in the next minute a pod has a share of the whole limit, and the headers show the share', () => {
  const limits = { rpm: 40, rpd: 1_000 }
  const { state } = admittedByShare({ seen: used(40), own: noUse }, limits, 2)
  const { decision } = decideByShare('admit', state, limits, utcMs(noonMs + minuteMs), 2)
  expect(decision).toEqual({
    outcome: 'admitted',
    state: {
      limitMinute: 40,
      remainingMinute: 19,
      resetMinute: (noonMs + 2 * minuteMs) / 1_000,
      limitDay: 1_000,
      remainingDay: 480 - 1 - 1,
    },
  })
})

test('observing consumes nothing', () => {
  const { next } = decideByShare('observe', nothingKnown, { rpm: 9, rpd: 9 }, noonMs, 1)
  expect(next.own).toMatchObject({ usedMinute: 0, usedDay: 0 })
})
