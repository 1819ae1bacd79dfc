import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from './system-clock.ts'
import { ensureToken, readToken, tokenPath } from './token-file.ts'

const root = mkdtempSync(join(tmpdir(), 'fxd-token-'))
afterAll(() => rmSync(root, { recursive: true }))

test('the token is made once, for its owner only, and read by whoever may read the file', () => {
  expect(readToken(root)).toBeUndefined()
  const token = ensureToken(root, systemClock)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(statSync(tokenPath(root)).mode & 0o777).toBe(0o600)
  expect(ensureToken(root, systemClock)).toBe(token)
  expect(readToken(root)).toBe(token)
  expect(readFileSync(tokenPath(root), 'utf8')).toBe(`${token}\n`)
})

test('an empty token file is refused by name: an empty token would let everybody in', () => {
  writeFileSync(tokenPath(root), '\n')
  expect(() => ensureToken(root, systemClock)).toThrow(tokenPath(root))
})
