import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { silentLog } from '../log/log.ts'
import { watchSecrets } from './secrets.ts'
import { reloadMs } from './watch.ts'

const folder = mkdtempSync(join(tmpdir(), 'fxd-secrets-'))
const path = join(folder, 'token')
const place = { path, variable: 'FXD_TOKEN_FILE' }
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(() => writeFileSync(path, ' first \n\nsecond\n'))

test('a secret has one value per line, and a replaced file is used within ten seconds', async () => {
  const clock = createVirtualClock()
  const secrets = watchSecrets(place, clock, silentLog)
  expect(secrets.value).toEqual(['first', 'second'])
  writeFileSync(path, 'third\nfirst\n')
  await clock.advance(reloadMs)
  expect(secrets.value).toEqual(['third', 'first'])
  secrets.close()
  expect(clock.pending).toBe(0)
})

test('while the file is empty or missing, the old values stay in use', async () => {
  const clock = createVirtualClock()
  const secrets = watchSecrets(place, clock, silentLog)
  writeFileSync(path, '\n')
  await clock.advance(reloadMs)
  rmSync(path)
  await clock.advance(reloadMs)
  expect(secrets.value).toEqual(['first', 'second'])
  secrets.close()
})

test('a start without the file, or with an empty one, fails with an error that names it', () => {
  const clock = createVirtualClock()
  writeFileSync(path, '')
  expect(() => watchSecrets(place, clock, silentLog)).toThrow(
    `The file ${path} (FXD_TOKEN_FILE) holds 0 values, wanted 1 to 100, one per line.`,
  )
  rmSync(path)
  expect(() => watchSecrets(place, clock, silentLog)).toThrow(`FXD_TOKEN_FILE: there is no file at ${path}.`)
})
