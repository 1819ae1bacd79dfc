import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from '../clocks/feed-clock.ts'
import { decide, noUse, type RateUse } from './rate-window.ts'

const noon = utcMs(Date.UTC(2026, 10, 20, 12, 0, 0))
const minuteMs = 60_000
const dayMs = 86_400_000
const limits = { rpm: 2, rpd: 3 }

/** Decisions on requests at these times. */
function play(moments: readonly number[], rules = limits, from: RateUse = noUse) {
  let use = from
  return moments.map((at) => {
    const { next, decision } = decide('admit', use, rules, utcMs(at))
    use = next
    return decision
  })
}

test('a request consumes one of both windows and returns what remains', () => {
  expect(play([noon + 1_500])).toEqual([
    {
      outcome: 'admitted',
      state: {
        limitMinute: 2,
        remainingMinute: 1,
        resetMinute: noon / 1_000 + 60,
        limitDay: 3,
        remainingDay: 2,
      },
    },
  ])
})

test('a full minute window refuses requests until its reset, and Retry-After ends at the reset', () => {
  const [, , refused, later] = play([noon, noon + 1, noon + 1_500, noon + minuteMs])
  expect(refused).toMatchObject({
    outcome: 'refused',
    exceeded: 'minute',
    retryAfterSeconds: 59,
    state: { remainingMinute: 0, remainingDay: 1 },
  })
  expect(later).toMatchObject({ outcome: 'admitted', state: { remainingMinute: 1, remainingDay: 0 } })
})

test('a full day window refuses until UTC midnight, whatever the minute window has left', () => {
  const decisions = play([noon, noon, noon + minuteMs, noon + 2 * minuteMs, noon + dayMs / 2])
  expect(decisions[3]).toMatchObject({
    outcome: 'refused',
    exceeded: 'day',
    retryAfterSeconds: 12 * 3_600 - 120,
  })
  expect(decisions[4]).toMatchObject({ outcome: 'admitted', state: { remainingDay: 2 } })
})

test('of two full windows the one that resets last is named', () => {
  const [, , , refused] = play([noon, noon, noon, noon], { rpm: 3, rpd: 3 })
  expect(refused).toMatchObject({ outcome: 'refused', exceeded: 'day' })
})

test('a refused request consumes nothing', () => {
  const used = decide('admit', decide('admit', noUse, limits, noon).next, limits, noon).next
  expect(decide('admit', used, limits, noon).next).toEqual(used)
})

test('a check without consuming is never refused', () => {
  const used = decide('admit', decide('admit', noUse, limits, noon).next, limits, noon).next
  const { next, decision } = decide('observe', used, limits, utcMs(noon + 1))
  expect(next).toEqual(used)
  expect(decision).toMatchObject({ outcome: 'admitted', state: { remainingMinute: 0, remainingDay: 1 } })
})

test('a limit lowered below the use leaves 0, never a negative number', () => {
  const used = decide('admit', decide('admit', noUse, limits, noon).next, limits, noon).next
  expect(decide('admit', used, { rpm: 1, rpd: 1 }, noon).decision).toMatchObject({
    outcome: 'refused',
    state: { remainingMinute: 0, remainingDay: 0 },
  })
})

test('a clock set back by up to a minute reopens no window', () => {
  const midnight = noon + dayMs / 2
  const decisions = play([midnight, midnight, midnight - 2_000])
  expect(decisions[2]).toMatchObject({ outcome: 'refused', exceeded: 'minute', retryAfterSeconds: 62 })
})

test('a clock that was years ahead does not lock a key out', () => {
  const use = { minute: noon / minuteMs + 5_000_000, usedMinute: 2, day: noon / dayMs + 3_472, usedDay: 3 }
  expect(decide('admit', use, limits, noon).decision.outcome).toBe('admitted')
})

test('no window admits more than its limit, and a refusal names a full window, at any times', () => {
  const steps = fc.array(fc.oneof(fc.nat(2_000), fc.nat(90_000), fc.constant(dayMs / 3)), { maxLength: 60 })
  const rules = fc.record({ rpm: fc.integer({ min: 1, max: 5 }), rpd: fc.integer({ min: 1, max: 12 }) })
  fc.assert(
    fc.property(steps, rules, (waits, given) => {
      let at: number = noon
      const moments = waits.map((wait) => (at += wait))
      const decisions = play(moments, given)
      const admitted = moments.filter((_, i) => decisions[i]!.outcome === 'admitted')
      const most = (size: number) =>
        Math.max(
          0,
          ...Map.groupBy(admitted, (ms) => Math.floor(ms / size))
            .values()
            .map((each) => each.length),
        )
      expect(most(minuteMs)).toBeLessThanOrEqual(given.rpm)
      expect(most(dayMs)).toBeLessThanOrEqual(given.rpd)
      decisions.forEach((decision, i) => {
        if (decision.outcome !== 'refused') return
        const remaining =
          decision.exceeded === 'day' ? decision.state.remainingDay : decision.state.remainingMinute
        expect(remaining).toBe(0)
        const again = moments[i]! + decision.retryAfterSeconds * 1_000
        expect(play([...moments.slice(0, i + 1), again], given).at(-1)!.outcome).toBe('admitted')
      })
    }),
  )
})
