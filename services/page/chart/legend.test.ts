import { expect, test } from 'vitest'
import { legendText } from './legend.ts'

const bar = { time: 1_767_607_320, open: 1.1, high: 1.2, low: 1, close: 1.15, volume: 1_234 }

test.for([
  [false, bar.time - 10_800, '2026-01-05 10:02 feed · 2026-01-05 07:02 UTC'],
  [false, undefined, '2026-01-05 10:02 feed · UTC unknown'],
  [true, bar.time - 10_800, '2026-01-05'],
] as const)('of days: %s, time in UTC %s: the legend begins with %s', ([isOfDays, utc, times]) => {
  const text = legendText({ bar, digits: 5, isOfDays, utc })
  expect(text).toBe(`${times} · O 1.10000 H 1.20000 L 1.00000 C 1.15000 · Volume 1,234`)
})
