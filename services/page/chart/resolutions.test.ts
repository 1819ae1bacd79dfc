import { expect, test } from 'vitest'
import { axisTime, nextOpen, openOf, resolutions } from './resolutions.ts'

const at = (text: string): number => Date.parse(`${text}Z`) / 1_000

test('there are the eleven resolutions of the service', () => {
  expect(resolutions.map(({ value }) => value).join()).toBe('1,5,10,15,30,60,120,240,1D,1W,1M')
})

test.for([
  ['1', '2026-03-04T05:06', '2026-03-04T05:06'],
  ['240', '2026-03-04T07:59', '2026-03-04T04:00'],
  ['1D', '2026-03-04T07:59', '2026-03-04T00:00'],
  ['1W', '2026-03-04T07:59', '2026-03-01T00:00'],
  ['1M', '2026-03-31T23:59', '2026-03-01T00:00'],
] as const)('a minute belongs to the bar of %s at %s that opened at %s', ([resolution, time, open]) => {
  const aSunday = at('2020-01-05T00:00')
  expect(openOf(resolution, at(time), aSunday)).toBe(at(open))
})

test.for([
  ['5', '2026-03-04T05:05', '2026-03-04T05:10'],
  ['1M', '2026-02-01T00:00', '2026-03-01T00:00'],
  ['1M', '2026-12-01T00:00', '2027-01-01T00:00'],
] as const)('after the bar of %s at %s comes that of %s', ([resolution, time, next]) => {
  expect(nextOpen(resolution, at(time))).toBe(at(next))
})

const ahead = -10_800
const behind = 4_018 * 86_400
test.for([
  ['60', ahead, '2026-03-04T05:00', '2026-03-04T02:00'],
  ['1D', ahead, '2026-03-04T00:00', '2026-03-04T00:00'],
  ['1M', ahead, '2026-03-01T00:00', '2026-03-01T00:00'],
  ['60', behind, '2015-03-04T05:00', '2026-03-04T05:00'],
  ['1D', behind, '2015-03-04T00:00', '2026-03-04T00:00'],
  ['1M', behind, '2015-03-01T00:00', '2026-03-01T00:00'],
] as const)(
  'of resolution %s with an offset of %i, %s is %s on the axis of UTC',
  ([resolution, offset, time, axis]) => {
    expect(axisTime(resolution, at(time), offset)).toBe(at(axis))
  },
)
