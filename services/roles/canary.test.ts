import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseConfig } from '../platform/config.ts'
import { startCanary } from './canary.ts'

test.each([
  ['is too short', 'fxd_hush'],
  ['contains a control character', `fxd_hush\u0001${'0'.repeat(27)}`],
  ['contains a character outside of Latin-1', `fxd_hush\u4e00${'0'.repeat(27)}`],
])('a key that %s stops the start with an error that names its file only', async (_what, key) => {
  const home = mkdtempSync(join(tmpdir(), 'fxd-canary-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const path = join(home, 'key')
  writeFileSync(path, `${key}\n`)
  const config = parseConfig(
    {
      FXD_CANARY_REST: 'http://127.0.0.1:1',
      FXD_CANARY_STREAM: 'ws://127.0.0.1:1',
      FXD_CANARY_KEY_FILE: path,
      FXD_CANARY_SYMBOLS: 'A:B:C',
      FXD_OPS_ADDR: '127.0.0.1:0',
    },
    'canary',
  )
  const failure = await startCanary(config).then(
    (canary) => canary.stop(),
    (cause: unknown) => cause,
  )
  expect(failure).toMatchObject({ message: `FXD_CANARY_KEY_FILE: the file ${path} holds no API key.` })
})
