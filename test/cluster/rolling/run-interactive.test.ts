import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const runInteractive = join(import.meta.dirname, '../../support/processes/run-interactive.ts')

/** Handles no signal while it waits, as during an installation. */
const busy = `
  process.on('SIGTERM', () => process.exit(0))
  process.stdout.write('busy ', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
    process.stdout.write('free ')
    setInterval(() => undefined, 1_000)
  })
`

test('Ctrl-C is answered at once while the program is busy, and only once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-interactive-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'busy.mjs')
  writeFileSync(file, busy)
  const child = spawn(process.execPath, [runInteractive, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (piece: Buffer) => void (output += piece.toString()))
  await expect.poll(() => output).toBe('busy ')
  child.kill('SIGINT')
  await expect.poll(() => output).toBe('busy Ending…\n')
  child.kill('SIGINT')
  expect(await once(child, 'close')).toEqual([0, null])
  expect(output).toBe('busy Ending…\nfree ')
})
