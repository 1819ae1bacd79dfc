import { expect, test } from 'vitest'
import { checkLimits, type LimitedAnswer, type LimitRecord, type ShareReading } from './check-limits.ts'

const rpm = 10
/** Start of a UTC minute; the windows of the tests end 60 s and 120 s later. */
const t0 = 60_000 * 29_000_000
const reset = t0 / 1_000 + 60

/** Answers from `fromMs` on, every 20 ms; each takes `tookMs`. */
const answers = (count: number, fromMs: number, more: Partial<LimitedAnswer> = {}, tookMs = 10) =>
  Array.from({ length: count }, (_, i): LimitedAnswer => {
    const begunMs = fromMs + i * 20
    return { fromMs: begunMs, untilMs: begunMs + tookMs, reset, isRefused: false, ...more }
  })
const refused = (count: number, fromMs: number): LimitedAnswer[] =>
  answers(count, fromMs, { isRefused: true })
const reading = (atMs: number, admitted: number, pid = 1): ShareReading => {
  return { fromMs: atMs, untilMs: atMs + 5, pid, admitted }
}
/** Two pods that never admitted anything by their shares. */
const idle = [
  [reading(t0 - 1_000, 0, 1), reading(t0 + 500_000, 0, 1)],
  [reading(t0 - 1_000, 0, 2), reading(t0 + 500_000, 0, 2)],
]
const complaints = (of: readonly LimitedAnswer[], more: Partial<LimitRecord> = {}): string[] =>
  checkLimits({ rpm, answers: of, outages: [], shares: idle, ...more })

/** The most that may be admitted, read from the complaint about too many. */
const mostOf = (more: Partial<LimitRecord>, tookMs = 10): number =>
  Number(/(\d+) at most$/.exec(complaints(answers(1_000, t0 + 1_000, {}, tookMs), more)[0] ?? '')?.[1])

test('a key that is admitted up to its limit in each minute causes no complaint', () => {
  const minutes = [0, 60_000].flatMap((ms) => [
    ...answers(rpm, t0 + ms + 100, { reset: reset + ms / 1_000 }),
    ...refused(50, t0 + ms + 2_000),
  ])
  expect(complaints(minutes)).toEqual([])
})

test('one admitted request above the limit is a complaint, with and without refused requests', () => {
  const notice = [
    `until ${reset} 11 were admitted, 10 at most`,
    `until ${reset} 11 were admitted by the user's clock, 10 at most`,
  ]
  expect(complaints(answers(rpm + 1, t0 + 100))).toEqual(notice)
  expect(complaints([...answers(rpm + 1, t0 + 100), ...refused(50, t0 + 3_000)])).toEqual(notice)
})

test('a limiter that reports a new window for each request, and so refuses none, is a complaint', () => {
  const moving = answers(rpm + 1, t0 + 100).map((each, i) => ({ ...each, reset: reset + 60 * i }))
  expect(complaints(moving)).toEqual([`until ${reset} 11 were admitted by the user's clock, 10 at most`])
})

test('a user below the limit causes no complaint', () => {
  expect(complaints([])).toEqual([])
  expect(complaints(answers(rpm, t0 + 100, {}, 5_000))).toEqual([])
})

test('an answer that spans the end of a minute counts for the window it names, not by the clock of the user', () => {
  const edge = t0 + 60_000 - 5
  const late = Array.from({ length: rpm }, () => answers(1, edge, { reset: reset + 60 })).flat()
  expect(complaints([...answers(rpm, t0 + 100), ...late])).toEqual([])
  expect(complaints([...answers(rpm + 1, t0 + 100, { reset: reset + 60 }), ...late])).toHaveLength(2)
})

test('an outage allows the limit once more in the windows that it touches, since Redis may restart empty', () => {
  const at = (fromMs: number, untilMs: number) => ({ outages: [{ fromMs, untilMs }] })
  expect(mostOf({})).toBe(rpm)
  expect(mostOf(at(t0 + 10_000, t0 + 20_000))).toBe(2 * rpm)
  expect(mostOf(at(t0 - 10_000, t0 - 1_000))).toBe(2 * rpm)
  expect(mostOf(at(t0 - 10_000, t0 - 4_000))).toBe(rpm)
  expect(mostOf(at(t0 + 60_000, t0 + 70_000))).toBe(rpm)
})

test('what a pod reports as admitted by its share is allowed in addition to the limit; slow answers are not', () => {
  const shares = (before: number, after: number, later: number) => ({
    shares: [
      idle[0] ?? [],
      [
        reading(t0 + 500, before),
        reading(t0 + 2_000, before),
        reading(t0 + 100_000, after),
        reading(t0 + 110_000, later),
      ],
    ],
  })
  expect(mostOf(shares(0, 4, 4))).toBe(rpm + 4)
  expect(mostOf(shares(3, 7, 7)), 'before the first was asked').toBe(rpm + 4)
  expect(mostOf(shares(0, 4, 9)), 'after the last was answered').toBe(rpm + 4)
  expect(mostOf(shares(0, 4, 4), 1_500)).toBe(rpm + 4)
})

test('for one key and outage, at most the limit and one per pod count as admitted by shares', () => {
  const many = [[reading(t0 - 1_000, 0), reading(t0 + 100_000, 900)], idle[1] ?? []]
  expect(mostOf({ shares: many })).toBe(rpm + rpm + 2)
  const outages = [{ fromMs: t0 + 10_000, untilMs: t0 + 20_000 }]
  expect(mostOf({ shares: many, outages })).toBe(2 * rpm + 2 * (rpm + 2))
})

test('slow answers count as admitted by share only if a process was killed before it reported', () => {
  const slow = [...answers(rpm + 3, t0 + 1_000), ...answers(2, t0 + 6_000, {}, 1_000)]
  const found = (those: readonly LimitedAnswer[], ...readings: ShareReading[]) =>
    complaints(those, { shares: [readings, idle[1] ?? []] })
  const killed = [reading(t0, 0, 7), reading(t0 + 5_000, 2, 7), reading(t0 + 9_000, 1, 8)]
  const end = reading(t0 + 90_000, 1, 8)
  expect(found(slow, ...killed, end)).toEqual([])
  expect(found([...slow, ...answers(1, t0 + 7_000)], ...killed, end)).toHaveLength(2)
  const killedLater = [reading(t0, 0, 7), reading(t0 + 30_000, 2, 7)]
  expect(found(slow, ...killedLater, end)).toHaveLength(2)
  const killedBefore = [reading(t0 - 9_000, 5, 7), reading(t0, 0, 8)]
  expect(found(slow, ...killedBefore, end)).toHaveLength(2)
})
