import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a test run that ends by %s leaves no QuestDB process',
  { timeout: 60_000 },
  async (signal) => {
    const folder = mkdtempSync(join(tmpdir(), 'fxd-questdb-left-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const from = JSON.stringify(new URL('../../support/questdb/server.ts', import.meta.url).href)
    const script = `
      const { startQuestdb } = await import(${from})
      const { pid } = await startQuestdb({ folder: ${JSON.stringify(folder)} })
      console.log(pid)
      setInterval(() => undefined, 1_000)`
    const run = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void run.kill('SIGKILL'))
    const [output] = (await once(run.stdout, 'data')) as [Buffer]
    const pid = Number(output.toString())
    expect(isRunning(pid)).toBe(true)
    run.kill(signal)
    await expect.poll(() => isRunning(pid), { timeout: 10_000 }).toBe(false)
  },
)
