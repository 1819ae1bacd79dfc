import { expect, test } from 'vitest'
import { isKeyShaped } from './api-key.ts'

const hex = '0123456789abcdef'.repeat(2)

test.each([
  [`fxd_${hex}`, true],
  [`fxd_${hex}0`, false],
  [`fxd_${hex.slice(1)}`, false],
  [`fxd_${hex.toUpperCase()}`, false],
  [`FXD_${hex}`, false],
  [` fxd_${hex}`, false],
  [`fxd_${hex}\n`, false],
  ['', false],
])('"%s" as the shape of a key: %s', (text, isKey) => {
  expect(isKeyShaped(text)).toBe(isKey)
})
