import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../system-clock.ts'
import { ensureToken, readToken, tokenPath } from './token.ts'

const root = mkdtempSync(join(tmpdir(), 'fxd-token-'))
const place = { dataDir: root, tokenFile: undefined }
afterAll(() => rmSync(root, { recursive: true }))

test('the token is created once, readable for its owner only', () => {
  expect(readToken(place)).toBeUndefined()
  const token = ensureToken(place, systemClock)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(statSync(tokenPath(place)).mode & 0o777).toBe(0o600)
  expect(ensureToken(place, systemClock)).toBe(token)
  expect(readToken(place)).toBe(token)
  expect(readFileSync(tokenPath(place), 'utf8')).toBe(`${token}\n`)
})

test('when the token cannot be written, no file is left and the next start creates the token', () => {
  const refused = { dataDir: join(root, 'refused'), tokenFile: undefined }
  mkdirSync(refused.dataDir)
  const code = `
    import { ensureToken } from '${import.meta.resolve('./token.ts')}'
    import { systemClock } from '${import.meta.resolve('../system-clock.ts')}'
    ensureToken(${JSON.stringify(refused)}, systemClock)`
  // Like a full disk: the process may create files, and not write to them.
  const words = ['ulimit -f 0; exec "$@"', 'sh', process.execPath, '--input-type=module', '-e', code]
  expect(spawnSync('sh', ['-c', ...words]).stderr.toString()).toContain('EFBIG')
  expect(readdirSync(refused.dataDir)).toEqual([])
  expect(ensureToken(refused, systemClock)).toBe(readToken(refused))
})

test('an empty token file is rejected by name: an empty token would admit every caller', () => {
  writeFileSync(tokenPath(place), '\n')
  expect(() => ensureToken(place, systemClock)).toThrow(tokenPath(place))
})

test('a configured token file replaces the one in the data folder', () => {
  const tokenFile = join(root, 'mounted')
  writeFileSync(tokenFile, 'from-a-secret\n')
  expect(readToken({ dataDir: root, tokenFile })).toBe('from-a-secret')
})

test('a token path below a file is rejected with path and variable', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  expect(() => readToken({ dataDir: file, tokenFile: undefined })).toThrow(
    `The file ${join(file, 'token')} (FXD_DATA_DIR) cannot be read: a part of its path is a file, not a folder.`,
  )
  expect(() => readToken({ dataDir: root, tokenFile: join(file, 'mine') })).toThrow('(FXD_TOKEN_FILE)')
})

test('a token that cannot be written is one sentence with path and variable', () => {
  const tokenFile = join(root, 'none', 'mine')
  expect(() => ensureToken({ dataDir: root, tokenFile }, systemClock)).toThrow(
    `The token ${tokenFile} (FXD_TOKEN_FILE) cannot be written: its folder does not exist.`,
  )
})
