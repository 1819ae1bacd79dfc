import { expect, test, vi } from 'vitest'
import { failures } from '../../core/failure.ts'
import { failureText, isOfKey } from './failures.ts'

test.for([
  ['KEY_INVALID', undefined, 'This key is unknown. Check that you copied all of it.'],
  ['UNAVAILABLE', undefined, 'The service does not answer. The page asks again by itself.'],
  ['SERVER_ERROR', 2, 'The service has a fault. The page asks again in 2 s.'],
  ['INVALID_PARAMS', undefined, 'the words of the service'],
] as const)('%s with a pause of %s is said as: %s', ([code, retryAfter, text]) => {
  expect(failureText({ code, message: 'the words of the service', retryAfter })).toBe(text)
})

test('every failure with status 401 is one of the key', () => {
  const ofKey = Object.entries(failures).flatMap(([code, { status }]) => (status === 401 ? [code] : []))
  expect(ofKey.length).toBeGreaterThan(3)
  expect(ofKey.filter((code) => !isOfKey(code))).toEqual([])
  expect(isOfKey('UNAVAILABLE')).toBe(false)
})

test.for([
  ['The limit of 30 requests per minute is exceeded; try again', 'This key may make 30 requests a minute'],
  ['The limit of 10000 requests per day is exceeded; try again', 'This key may make 10000 requests a day'],
  ['The rate limiter is unavailable; try again', 'Your key has used up its requests for now'],
] as const)('"%s" in 20 s is said with the time at which the page continues', ([message, text]) => {
  vi.useFakeTimers({ now: new Date(2026, 10, 29, 16, 23, 20) })
  try {
    const failure = { code: 'RATE_LIMIT_EXCEEDED', message, retryAfter: 20 }
    expect(failureText(failure)).toBe(`${text}; the page continues at 16:23:40.`)
  } finally {
    vi.useRealTimers()
  }
})
