import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { durationSeconds, resolutions } from '../../../../core/feeds/resolution.ts'
import { SpacingSample } from './spacing.ts'

const fixed = resolutions.filter((r) => r !== '1M')
const monday = Date.UTC(2024, 0, 8) / 1000

const faultOf = (times: readonly number[], resolution: (typeof resolutions)[number]): string | undefined => {
  const sample = new SpacingSample()
  sample.add(times)
  return sample.fault(resolution)
}

/** Times whose distances are these multiples of a duration. */
function timesOf(unit: number, steps: readonly number[]): number[] {
  const times = [monday]
  for (const step of steps) times.push((times.at(-1) as number) + step * unit)
  return times
}

const steps = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 30, maxLength: 200 })
const anyFixed = fc.constantFrom(...fixed)
const pair = fc
  .tuple(anyFixed, anyFixed)
  .filter(([a, b]) => durationSeconds[a] < durationSeconds[b])
  .map(([finer, longer]) => ({ finer, longer }))

describe('the distances between bars', () => {
  test('never contradict their own resolution', () => {
    fc.assert(
      fc.property(anyFixed, steps, (resolution, some) => {
        // One pair of neighbours is enough to show the resolution.
        expect(faultOf(timesOf(durationSeconds[resolution], [...some, 1]), resolution)).toBeUndefined()
      }),
    )
  })

  test('contradict every finer resolution up to 60, and no other finer one', () => {
    fc.assert(
      fc.property(pair, steps, ({ finer, longer }, some) => {
        const times = timesOf(durationSeconds[longer], [...some, 1])
        const isJudged = durationSeconds[finer] <= 3_600
        const wanted = `looks like an export of ${longer}: all ${some.length + 1} distances`
        expect(faultOf(times, finer)?.slice(0, wanted.length)).toBe(isJudged ? wanted : undefined)
      }),
    )
  })

  test('contradict every longer resolution when most are shorter, in any order and with duplicates', () => {
    fc.assert(
      fc.property(pair, fc.integer({ min: 20, max: 200 }), fc.gen(), ({ finer, longer }, count, gen) => {
        const times = timesOf(durationSeconds[finer], Array<number>(count).fill(1))
        const fault = faultOf(times, longer)
        expect(fault).toMatch(`looks like an export of ${finer}: ${count} of ${count} distances`)
        const shuffled = gen(() => fc.shuffledSubarray([...times, ...times], { minLength: 2 * times.length }))
        expect(faultOf(shuffled, longer)).toBe(fault)
      }),
    )
  })
})

test.for([
  ['20 of 40 distances that are shorter', [...Array<number>(20).fill(1), ...Array<number>(20).fill(5)], '5'],
  ['19 distances that are shorter', Array<number>(19).fill(1), '5'],
  ['29 bars that are far apart', Array<number>(28).fill(5), '1'],
  ['bars of 240 that all open at midnight', Array<number>(100).fill(1_440), '240'],
] as const)('%s prove nothing', ([, some, resolution]) => {
  expect(faultOf(timesOf(60, some), resolution)).toBeUndefined()
})

test.for([
  [
    '21 of 41 distances that are shorter',
    [...Array<number>(21).fill(1), ...Array<number>(20).fill(5)],
    '5',
    '1',
  ],
  ['20 distances that are shorter', Array<number>(20).fill(1), '5', '1'],
  ['30 bars that are far apart', Array<number>(29).fill(5), '1', '5'],
  ['bars of three minutes', Array<number>(40).fill(3), '1', 'bars of 3m'],
  ['bars of three hours', Array<number>(40).fill(180), '60', 'bars of 3h'],
  ['bars of a month', Array<number>(40).fill(30 * 1_440), '60', '1M'],
] as const)('%s contradict the resolution', ([, some, resolution, named]) => {
  expect(faultOf(timesOf(60, some), resolution)).toMatch(new RegExp(`^looks like an export of ${named}: `))
})

test('bars of ten seconds contradict minutes', () => {
  expect(faultOf(timesOf(10, Array<number>(20).fill(1)), '1')).toMatch(
    'looks like an export of bars of 10s: 20 of',
  )
})

test('months contradict no resolution of their own, and days contradict it', () => {
  const months = Array.from({ length: 40 }, (_, i) => Date.UTC(2020, i, 1) / 1000)
  expect(faultOf(months, '1M')).toBeUndefined()
  expect(faultOf(timesOf(86_400, Array<number>(300).fill(1)), '1M')).toMatch('looks like an export of 1D')
})

test('only the first 100,000 bars are judged', () => {
  const sample = new SpacingSample()
  sample.add(timesOf(3_600, Array<number>(99_999).fill(1)))
  expect(sample.isFull).toBe(true)
  sample.add(timesOf(60, [1, 1]))
  expect(sample.fault('1')).toMatch('all 99999 distances')
})
