import { describe, expect, test } from 'vitest'
import type { Failure } from '../core/failure.ts'
import { credential } from './credential.ts'

describe('the credential', () => {
  test.each([
    ['the header', { 'x-api-key': 'a' }, '/v1/status', 'a'],
    ['the bearer token', { authorization: 'Bearer b' }, '/v1/status', 'b'],
    ['the scheme in any case', { authorization: 'bEARER b' }, '/v1/status', 'b'],
    ['the parameter', {}, '/v1/status?api_key=c', 'c'],
    ['the parameter of a parsed query', {}, new URLSearchParams({ api_key: 'c' }), 'c'],
    ['the header before the others', { 'x-api-key': 'a', authorization: 'Bearer b' }, '/?api_key=c', 'a'],
    ['the bearer before the parameter', { authorization: 'Bearer b' }, '/?api_key=c', 'b'],
    ['an empty header as absent', { 'x-api-key': ' ', authorization: 'Bearer b' }, '/', 'b'],
    ['an empty bearer as absent', { authorization: 'Bearer ' }, '/?api_key=c', 'c'],
    ['another scheme as absent', { authorization: 'Basic YTpi' }, '/', undefined],
    ['an empty parameter as absent', {}, '/?api_key=', undefined],
    ['a path without a query as absent', {}, '/api_key=c', undefined],
    ['nothing', {}, '/', undefined],
    ['repeated headers as one invalid key', { 'x-api-key': ['a', 'b'] }, '/', 'a, b'],
    ['an escaped parameter', {}, '/?%61pi_key=%63', 'c'],
    ['an invalid escape unchanged', {}, '/?api_key=%zz', '%zz'],
  ])('reads %s', (_, headers, query, expected) => {
    expect(credential(headers, query)).toBe(expected)
  })

  test('a repeated api_key is KEY_INVALID', () => {
    expect(() => credential({}, '/?api_key=c&api_key=c')).toThrow(
      expect.objectContaining({ code: 'KEY_INVALID' }) as Failure,
    )
  })
})
