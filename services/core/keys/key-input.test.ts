import { expect, test } from 'vitest'
import { Failure } from '../failure.ts'
import { type GivenLimits, parseDuration, parseExpiry, parsePlan, resolveLimits } from './key-input.ts'
import { type Plan, planLimits } from './plan.ts'

function refusal(parse: () => unknown): string {
  try {
    return `accepted as ${JSON.stringify(parse())}`
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_PARAMS') return error.message
    throw error
  }
}

test.each([
  ['2027-01-31', '2027-02-01T00:00:00Z'],
  ['2028-02-29', '2028-03-01T00:00:00Z'],
  ['2027-12-31', '2028-01-01T00:00:00Z'],
  ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00Z'],
  ['2027-01-31T12:00Z', '2027-01-31T12:00:00Z'],
  ['2027-01-31T12:00:00.25Z', '2027-01-31T12:00:00.250Z'],
  ['2027-01-31T01:30:00+02:00', '2027-01-30T23:30:00Z'],
  ['2027-01-31T23:30:00-05:30', '2027-02-01T05:00:00Z'],
])('a key with expiry %s is expired from %s on', (text, first) => {
  expect(parseExpiry(text)).toBe(Date.parse(first))
})

test.each([
  '',
  'tomorrow',
  '2027-02-29',
  '31.01.2027',
  '2027-01-31T24:00:00Z',
  '2027-01-31T12:00:00',
  '1700000000',
])('an expiry of "%s" is rejected with an example of a valid one', (text) => {
  expect(refusal(() => parseExpiry(text))).toContain(
    `expires: got "${text}", wanted a date such as 2027-01-31`,
  )
})

test.each([
  ['0s', 0],
  ['30s', 30_000],
  ['15m', 900_000],
  ['1h', 3_600_000],
  ['90d', 7_776_000_000],
  ['2w', 1_209_600_000],
])('a duration of %s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

test.each(['', '1', 'h', '1.5h', '-1h', '1H', '1 h', '1y', '999999999w'])(
  'a duration of "%s" is rejected',
  (text) => {
    expect(refusal(() => parseDuration(text))).toContain(
      `duration: got "${text}", wanted a whole number and a unit`,
    )
  },
)

test('a mistyped plan is rejected with a suggestion', () => {
  expect(parsePlan('pro')).toBe('pro')
  expect(refusal(() => parsePlan('standart'))).toBe(
    'plan: got "standart", wanted one of basic, standard, pro, enterprise (did you mean standard?)',
  )
})

test('limits that are not given with the key come from its plan', () => {
  expect(resolveLimits('pro', {})).toEqual(planLimits.pro)
  expect(resolveLimits('basic', { rpm: 7, wsConnections: 0 })).toEqual({
    ...planLimits.basic,
    rpm: 7,
    wsConnections: 0,
  })
})

test('plan enterprise requires all four limits', () => {
  const all = { rpm: 1, rpd: 2, wsConnections: 3, wsSymbols: 4 }
  expect(resolveLimits('enterprise', all)).toEqual(all)
  expect(refusal(() => resolveLimits('enterprise', { rpm: 1, wsSymbols: 4 }))).toBe(
    'limits: got no rpd, ws_connections, wanted all four with plan enterprise',
  )
})

test.each<[Plan, GivenLimits, string]>([
  ['pro', { rpm: 0 }, 'rpm: got number 0, wanted a whole number from 1 to 1000000'],
  ['pro', { rpd: 1.5 }, 'rpd: got number 1.5'],
  ['basic', { wsConnections: -1 }, 'ws_connections: got number -1, wanted a whole number from 0 to 10000'],
  ['standard', { wsSymbols: 10_001 }, 'ws_symbols: got number 10001'],
  ['pro', { rpm: Number.NaN }, 'rpm: got number NaN'],
])('plan %s with %j is rejected, and the error names the limit', (plan, given, words) => {
  expect(refusal(() => resolveLimits(plan, given))).toContain(words)
})
