import { expect, test } from 'vitest'
import type { ApiKeyObject } from './kube/resources.ts'
import { isUrgent } from './urgent.ts'

const key = (generation: number, seen: number | undefined, spec: object = {}, state = 'active') =>
  ({ metadata: { name: 'a', generation }, spec, status: { observedGeneration: seen, state } }) as ApiKeyObject

test('only new and changed objects and keys to revoke are urgent', () => {
  expect(isUrgent(key(1, undefined))).toBe(true)
  expect(isUrgent(key(2, 1))).toBe(true)
  expect(isUrgent(key(2, 2, { revoked: true }))).toBe(true)
  expect(isUrgent(key(2, 2, { revoked: true }, 'inactive'))).toBe(false)
  expect(isUrgent(key(2, 2))).toBe(false)
  expect(isUrgent(undefined)).toBe(false)
})
