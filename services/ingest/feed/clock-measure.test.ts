import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../../test/support/effort.ts'
import { feedSeconds, utcMs } from '../../core/clocks/feed-clock.ts'
import { type ClockRun, type ClockSample, contradicts, followClock, measuredOffset } from './clock-measure.ts'

const start = Date.UTC(2026, 2, 29)
const at = (seconds: number, offsetSeconds: number, lateSeconds = 0): ClockSample => ({
  utc: utcMs(start + seconds * 1000),
  tick: feedSeconds(start / 1000 + Math.round(seconds - lateSeconds) - offsetSeconds),
})

/** The measured offset after each sample. */
function measure(samples: readonly ClockSample[]): (number | undefined)[] {
  let run: ClockRun | undefined
  return samples.map((sample) => {
    run = followClock(run, sample)
    return measuredOffset(run)
  })
}

const every = (step: number, from: number, to: number, offset: number): ClockSample[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => at(from + i * step, offset))

const anOffset = fc.oneof(
  fc.integer({ min: -60, max: 60 }).map((quarters) => quarters * 900 + 0),
  // A terminal's clock that is years behind.
  fc.integer({ min: 385_700, max: 385_760 }).map((quarters) => quarters * 900),
)
/** Pauses between samples, and the lag of each tick. */
const someNoise = fc.array(
  fc.record({ pause: fc.double({ min: 0.2, max: 60, noNaN: true }), late: fc.integer({ min: -5, max: 20 }) }),
  { minLength: 3, maxLength: 60 },
)

function noisy(noise: readonly { pause: number; late: number }[], offset: number, from = 0): ClockSample[] {
  let seconds = from
  return noise.map(({ pause, late }) => {
    seconds += pause
    return at(seconds, offset, late)
  })
}

test('ticks over two minutes or more give the offset, whatever their lags', () => {
  const property = fc.property(anOffset, someNoise, (offset, noise) => {
    // Long enough to prove an offset after any earlier samples: a first tick, three samples and two minutes.
    const samples = [...noisy(noise, offset), ...every(40, 3_600, 3_760, offset)]
    expect(measure(samples).at(-1)).toBe(offset)
    for (const known of measure(noisy(noise, offset))) expect([undefined, offset]).toContain(known)
  })
  fc.assert(property, { numRuns: Math.ceil(100 * effort) })
})

test('an offset is known only after three agreeing ticks over two minutes', () => {
  const anything = fc.array(
    fc.record({
      pause: fc.integer({ min: -30, max: 120 }),
      tick: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.integer({ min: -4_000, max: 4_000 })),
    }),
    { maxLength: 80 },
  )
  const property = fc.property(anything, (steps) => {
    let seconds = 0
    const samples = steps.map(({ pause, tick }) => {
      seconds += pause
      return at(seconds, tick)
    })
    measure(samples).forEach((known, i) => {
      if (known === undefined) return
      expect(known % 900 === 0).toBe(true)
      const now = samples[i] as ClockSample
      const before = samples
        .slice(0, i + 1)
        .findLastIndex(({ utc, tick }) => Math.abs(utc / 1000 - tick - known) > 181)
      const agreeing = samples.slice(before + 1, i + 1)
      expect(agreeing.length).toBeGreaterThanOrEqual(3)
      expect(Math.max(...agreeing.map(({ utc }) => now.utc - utc))).toBeGreaterThanOrEqual(120_000)
    })
  })
  fc.assert(property, { numRuns: Math.ceil(300 * effort) })
})

describe('a clock', () => {
  test.each([
    ['forward', -7_200, -10_800],
    ['back', -10_800, -7_200],
  ])('put %s by an hour has no offset for two minutes, then only the new one', (_, old, now) => {
    const known = measure([...every(5, 0, 600, old), ...every(5, 605, 1_200, now)])
    expect(known.slice(121, 145)).toEqual(Array.from({ length: 24 }, () => undefined))
    expect(new Set(known.slice(25, 121))).toEqual(new Set([old]))
    expect(new Set(known.slice(145))).toEqual(new Set([now]))
  })

  test('put back or forward contradicts the known offset; a tick that is hours ahead does not', () => {
    expect(contradicts(-10_800, at(0, -10_800, 20))).toBe(false)
    expect(contradicts(-10_800, at(0, -7_200))).toBe(true)
    expect(contradicts(-7_200, at(0, -10_800))).toBe(true)
    expect(contradicts(-7_200, at(0, -86_400))).toBe(false)
  })
})

test('ticks that stop give no offset, and two more minutes are needed after they resume', () => {
  let run: ClockRun | undefined
  for (const sample of every(5, 0, 300, -10_800)) run = followClock(run, sample)
  const stopped = run
  for (let seconds = 305; seconds < 40_000; seconds += 5)
    run = followClock(run, { ...at(300, -10_800), utc: utcMs(start + seconds * 1000) })
  expect(run).toBe(stopped)
  const again = every(5, 40_000, 40_200, -10_800).map((sample) => {
    run = followClock(run, sample)
    return measuredOffset(run)
  })
  expect(again.slice(0, 24)).toEqual(Array.from({ length: 24 }, () => undefined))
  expect(new Set(again.slice(24))).toEqual(new Set([-10_800]))
})

test('one implausible tick makes the offset unknown for two more minutes, and never becomes the offset', () => {
  const property = fc.property(
    anOffset,
    fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }),
    (offset, wrong) => {
      fc.pre(Math.abs(wrong - offset) > 300)
      const known = measure([...every(5, 0, 300, offset), at(304, wrong), ...every(5, 309, 500, offset)])
      expect(known[61]).toBeUndefined()
      expect(known.at(-1)).toBe(offset)
      for (const each of known) expect([undefined, offset]).toContain(each)
    },
  )
  fc.assert(property, { numRuns: Math.ceil(100 * effort) })
})

test('ticks that lag by minutes, or run faster than time, give no offset', () => {
  expect(new Set(measure(every(5, 0, 900, -10_800 + 400)))).toEqual(new Set([undefined]))
  const replayed = Array.from({ length: 600 }, (_, i) => at(i * 5, 0, 7_200 - i * 5))
  expect(new Set(measure(replayed))).toEqual(new Set([undefined]))
})

test('the first tick of a session may have any age', () => {
  const known = measure([at(0, 0, 5_000), at(60, 0), at(120, 0), at(180, 0)])
  expect(known).toEqual([undefined, undefined, undefined, 0])
  expect(measure([at(0, 0), at(60, 0), at(120, 0)])).toEqual([undefined, undefined, undefined])
})
