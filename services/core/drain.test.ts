import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from './clocks/feed-clock.ts'
import { isGuarded, nextCloses } from './drain.ts'

interface Close {
  /** Milliseconds since the drain began. */
  readonly at: number
  readonly utc: number
  readonly count: number
  readonly left: number
}

/** A drain as a shard runs it; each of its timers is late by up to `lateMs`. */
function run(sockets: number, startUtc: number, budgetMs: number, lateness: () => number = () => 0): Close[] {
  const closes: Close[] = []
  let [open, at] = [sockets, 0]
  for (let steps = 0; open > 0; steps++) {
    if (steps > 100_000) throw new Error('it does not end')
    const step = nextCloses({ open, utc: utcMs(startUtc + at), leftMs: budgetMs - at })
    if (step.count <= 0 || step.waitMs < 0) throw new Error(JSON.stringify(step))
    at = Math.min(Math.max(at, budgetMs), at + step.waitMs + (step.waitMs > 0 ? lateness() : 0))
    const utc = startUtc + at
    if (isGuarded(utcMs(utc)) && at < budgetMs) continue
    const count = at >= budgetMs ? open : step.count
    open -= count
    closes.push({ at, utc, count, left: budgetMs - at })
  }
  return closes
}

/** The expected result, counted minute by minute. */
function openBetween(from: number, to: number): number {
  let ms = 0
  for (let minute = Math.floor(from / 60_000); minute * 60_000 < to; minute++) {
    const [opens, closes] = [minute * 60_000 + 8_000, minute * 60_000 + 55_000]
    ms += Math.max(0, Math.min(to, closes) - Math.max(from, opens))
  }
  return ms
}

const start = fc.integer({ min: 1_767_600_000_000, max: 1_767_600_000_000 + 3_600_000 })
const sockets = fc.integer({ min: 1, max: 3_000 })
const budget = fc.integer({ min: 0, max: 150_000 })
const lateness = fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 50 })
const cycle = (values: readonly number[]) => {
  let i = 0
  return () => values[i++ % values.length] ?? 0
}

test('the guard is from second 55 up to, not including, second 8', () => {
  const guarded = (second: number): boolean => isGuarded(utcMs(1_767_600_000_000 + second * 1_000))
  expect([54.999, 55, 59.999, 60, 67.999, 68].map(guarded)).toEqual([false, true, true, true, true, false])
})

test('every socket is closed once, at the latest at the end of the drain', () => {
  fc.assert(
    fc.property(sockets, start, budget, lateness, (count, utc, budgetMs, late) => {
      const closes = run(count, utc, budgetMs, cycle(late))
      expect(closes.reduce((sum, each) => sum + each.count, 0)).toBe(count)
      expect(closes.every((each) => each.at <= budgetMs)).toBe(true)
    }),
  )
})

test('no socket is closed in the guard unless the whole drain is inside it', () => {
  fc.assert(
    fc.property(sockets, start, budget, lateness, (count, utc, budgetMs, late) => {
      // Timers that are later than the margin may miss the last moment before a guard.
      fc.pre(openBetween(utc, utc + budgetMs) > 500)
      const closes = run(count, utc, budgetMs, cycle(late))
      expect(closes.filter((close) => isGuarded(utcMs(close.utc)))).toEqual([])
    }),
    // The drain ends when a guard begins.
    { examples: [[105, 1_767_600_330_074, 84_926, [106, 60, 154, 151, 157, 114]]] },
  )
})

test('a drain wholly inside the guard closes all sockets at its end', () => {
  const [close, ...more] = run(7, 1_767_600_000_000 + 56_000, 10_000)
  expect(close).toMatchObject({ at: 10_000, count: 7, left: 0 })
  expect(more).toEqual([])
})

test('closes are spread evenly over the time outside of guards', () => {
  fc.assert(
    fc.property(sockets, start, fc.integer({ min: 20_000, max: 150_000 }), (count, utc, budgetMs) => {
      const openMs = openBetween(utc, utc + budgetMs)
      const closes = run(count, utc, budgetMs)
      const perSecond = new Map<number, number>()
      for (const close of closes) {
        const second = Math.floor(close.utc / 1_000)
        perSecond.set(second, (perSecond.get(second) ?? 0) + close.count)
      }
      const even = (count * 1_000) / openMs
      // Closes that late timers would push into a guard, or past the end, happen at the last moment before it.
      expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(Math.ceil(even * 1.3) + 2)
      const between = closes.slice(1).map((close, i) => openBetween(closes[i]?.utc ?? 0, close.utc))
      // A close within the margin of a late timer happens with its neighbour, and its own place stays empty.
      expect(Math.max(0, ...between)).toBeLessThanOrEqual((2 * openMs) / count + 300)
    }),
    { numRuns: 50 },
  )
})

test('without time left, all sockets are closed at once', () => {
  expect(nextCloses({ open: 12, utc: utcMs(30_000), leftMs: 0 })).toEqual({ waitMs: 0, count: 12 })
  expect(nextCloses({ open: 12, utc: utcMs(58_000), leftMs: -5 })).toEqual({ waitMs: 0, count: 12 })
})
