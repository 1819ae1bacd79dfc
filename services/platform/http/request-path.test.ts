import { expect, test } from 'vitest'
import { pathOf } from './request-path.ts'

test.each([
  ['/v1/stream', '/v1/stream'],
  ['/v1/stream?api_key=x', '/v1/stream'],
  ['/v1/stream#x?y', '/v1/stream'],
  ['http://host:8080/v1/stream?api_key=x', '/v1/stream'],
  ['HTTPS://host/v1/stream', '/v1/stream'],
  ['http://host', '/'],
  ['http://host?x', '/'],
  ['/V1/stream/', '/V1/stream/'],
  ['//v1/stream', '//v1/stream'],
  ['*', '*'],
  ['', '/'],
])('the path of %s is %s', (target, path) => {
  expect(pathOf(target)).toBe(path)
})
