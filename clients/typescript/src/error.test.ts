import { expect, test } from 'vitest'
import { FxdError } from './error.ts'

test.each([
  ['a 404 of a proxy', 'UNAVAILABLE', 404, true],
  ['a 401 of a proxy', 'UNAVAILABLE', 401, true],
  ['no answer', 'UNAVAILABLE', undefined, true],
  ['a full rate window', 'RATE_LIMITED', 429, true],
  ['a failure of the service', 'INTERNAL', 503, true],
  ['a refused key', 'KEY_EXPIRED', 401, false],
  ['an unknown symbol', 'SYMBOL_NOT_FOUND', 404, false],
  ['a rejected subscription', 'SYMBOL_REJECTED', undefined, false],
  ['a close without a reason', 'CLOSED', undefined, false],
])('whether %s may pass is said by its code and status', (_, code, status, mayPass) => {
  expect(new FxdError(code, '', { status }).mayPass).toBe(mayPass)
})
