import { describe, expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import type { Bars } from './bar.ts'
import { barsOf } from './bar.ts'
import { comparedSpan, sameRatio } from './readjustment.ts'

/** Daily closes of GOOGL in March 2014, after its split of April 2014 was applied to them (gym-anytrading 2.0.0, MIT). */
const closes = [
  601.95, 608.06, 609.74, 610.42, 608.0, 606.39, 600.6, 604.25, 595.13, 586.99, 596.65, 606.24, 600.23,
  599.18, 592.11, 579.54, 579.94, 566.55, 557.7, 560.64, 557.81, 568.01, 568.12, 571.5, 545.25,
]
const day = 86_400
const daily = (values: readonly number[]): Bars =>
  barsOf(
    values.map((close, i) => ({
      time: feedSeconds(i * day),
      open: close,
      high: close,
      low: close,
      close,
      volume: 1,
    })),
  )
const rounded = (value: number): number => Number(value.toFixed(2))

describe('closes that differ by one ratio', () => {
  test.each([
    ['a split of 1:2', (close: number) => close * 2],
    ['a split of 1:20', (close: number) => close * 20],
    ['a merger of shares', (close: number) => close / 5],
    ['a dividend of 0.8 %', (close: number) => close * 1.008],
  ])('of %s are all counted, although prices are rounded', (_, before) => {
    expect(sameRatio(daily(closes.map((close) => rounded(before(close)))), daily(closes), 2)).toBe(
      closes.length,
    )
  })

  test('are not counted where bars are equal, missing, or differ by few units of the last decimal', () => {
    expect(sameRatio(daily(closes), daily(closes), 2)).toBe(0)
    expect(sameRatio(daily([]), daily(closes), 2)).toBe(0)
    expect(sameRatio(daily(closes.map((close) => rounded(close + 0.1))), daily(closes), 2)).toBe(0)
  })

  test('are only those of the most frequent ratio: corrections by other amounts do not count', () => {
    const before = closes.map((close, i) => rounded(i < 15 ? close * 2 : close + i))
    expect(sameRatio(daily(before), daily(closes), 2)).toBe(15)
  })

  test('are those of prices above zero: others have no ratio', () => {
    expect(sameRatio(daily(closes.map((close) => -close)), daily(closes), 2)).toBe(0)
    expect(sameRatio(daily(closes.map(() => 0)), daily(closes), 2)).toBe(0)
  })
})

describe('the old day that is compared', () => {
  /** Monday, 2026-11-02. */
  const monday = Date.UTC(2026, 10, 2) / 1_000
  const range = (days: number) => ({ from: feedSeconds(monday - days * day + 1), to: feedSeconds(monday) })
  const spans = (days: number, r: '1' | '60' | '1D') =>
    Array.from({ length: 5 }, (_, today) => comparedSpan(range(days), r, 20_000 + today))

  test('of minutes is another one on each of five days, and never a Saturday or Sunday', () => {
    const all = spans(90, '1')
    expect(new Set(all.map((span) => span?.from)).size).toBe(5)
    for (const span of all) {
      if (span === undefined) throw new Error('no span')
      expect(span.to - span.from).toBe(day)
      expect(span.from).toBeGreaterThanOrEqual(range(90).from)
      expect(span.to).toBeLessThanOrEqual(monday)
      expect([1, 2, 3, 4, 5]).toContain(new Date(span.from * 1_000).getUTCDay())
    }
  })

  test('of a longer resolution is as many days as have enough bars', () => {
    expect(spans(500, '60').map((span) => span && (span.to - span.from) / day)).toEqual([9, 9, 9, 9, 9])
    expect(spans(500, '1D').map((span) => span && (span.to - span.from) / day)).toEqual(Array(5).fill(200))
    expect(spans(50, '1D').map((span) => span && (span.to - span.from) / day)).toEqual(Array(5).fill(49))
  })

  test('does not exist while the series has no whole old day', () => {
    expect(comparedSpan(range(1), '1', 20_000)).toBeUndefined()
  })
})
