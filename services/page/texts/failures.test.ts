import { expect, test } from 'vitest'
import { failures } from '../../core/failure.ts'
import { failureText, isOfKey } from './failures.ts'

test.for([
  ['KEY_INVALID', undefined, 'This key is unknown. Check that you copied all of it.'],
  ['UNAVAILABLE', undefined, 'The service does not answer. The page asks again by itself.'],
  ['RATE_LIMIT_EXCEEDED', 7, 'Your key has used up its requests for now. The page asks again in 7 s.'],
  ['RATE_LIMIT_EXCEEDED', 36_000, 'Your key has used up its requests for now. The page asks again in 10 h.'],
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
