import { expect, test } from 'vitest'
import { gapsBetween, shade } from './gaps.ts'

test('a gap begins a bar behind a range and ends a minute before the next', () => {
  const ranges = [
    { from: 0, to: 600 },
    { from: 900, to: 1_200 },
    { from: 1_260, to: 1_300 },
  ]
  expect(gapsBetween('1', ranges)).toEqual([{ from: 660, to: 840 }])
  expect(gapsBetween('1', [])).toEqual([])
  const hours = [
    { from: 0, to: 7_200 },
    { from: 18_000, to: 21_600 },
    { from: 25_200, to: 28_800 },
  ]
  expect(gapsBetween('60', hours)).toEqual([{ from: 10_800, to: 17_940 }])
})

test('a gap of minutes without bars gets a blank for each of them', () => {
  const times = [480, 540, 600, 900]
  expect(shade('1', times, [{ from: 660, to: 840 }])).toEqual({
    blanks: [660, 720, 780, 840],
    bands: [{ from: 660, to: 840 }],
  })
})

test('a long gap gets at most 41 blanks, among them its ends', () => {
  const gap = { from: 60, to: 60 * 10_000 }
  const { blanks, bands } = shade('1', [0, gap.to + 60], [gap])
  expect(blanks.length).toBeLessThanOrEqual(41)
  expect([blanks[0], blanks.at(-1)]).toEqual([gap.from, gap.to])
  expect(bands).toEqual([gap])
})

test('a gap within a bar shades that bar and adds none', () => {
  expect(shade('60', [0, 3_600, 7_200], [{ from: 4_000, to: 4_600 }])).toEqual({
    blanks: [],
    bands: [{ from: 3_600, to: 3_600 }],
  })
})

test('a gap is shaded between the first and the last bar only', () => {
  const shaded = shade(
    '1',
    [600, 660],
    [
      { from: 0, to: 300 },
      { from: 900, to: 960 },
    ],
  )
  expect(shaded).toEqual({ blanks: [], bands: [] })
})
