import { expect, test } from 'vitest'
import { isPlan, planLimits } from './plan.ts'

test('the plans have the default limits of the specification', () => {
  expect(planLimits).toEqual({
    basic: { rpm: 30, rpd: 10_000, wsConnections: 2, wsSymbols: 200 },
    standard: { rpm: 120, rpd: 50_000, wsConnections: 10, wsSymbols: 200 },
    pro: { rpm: 600, rpd: 250_000, wsConnections: 30, wsSymbols: 500 },
  })
})

test.each([
  ['enterprise', true],
  ['Pro', false],
  ['toString', false],
])('"%s" is a plan: %s', (text, isOne) => {
  expect(isPlan(text)).toBe(isOne)
})
