import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Program } from '../../support/cluster/program.ts'
import { supervise } from '../../support/cluster/supervise.ts'

const waitOptions = { timeout: 20_000 }

/** Runs a script under supervision; `ready` returns whether it is ready. */
async function supervised(script: string, ready: () => boolean) {
  const home = mkdtempSync(join(tmpdir(), 'fxd-supervise-'))
  const program = new Program({
    name: 'it',
    command: process.execPath,
    args: ['-e', script],
    env: process.env,
    log: join(home, 'it.log'),
    isReady: async () => ready(),
  })
  const printed: string[] = []
  const ending = new AbortController()
  program.begin()
  const done = supervise([program], { say: (sentence) => void printed.push(sentence), signal: ending.signal })
  onTestFinished(async () => {
    ending.abort()
    await program.kill()
    await done
    rmSync(home, { recursive: true, force: true })
  })
  return { program, printed, ending, done }
}

test('a program that has begun has its log at once, so its folder may be removed when it ends', async () => {
  const { program } = await supervised('process.exit(0)', () => true)
  expect(existsSync(program.log)).toBe(true)
})

test('a process that cannot start is restarted repeatedly, and each exit code is printed', async () => {
  const { printed, ending, done } = await supervised('process.exit(3)', () => false)
  const ends = (): number =>
    printed.filter((sentence) => /^it ended with exit code 3; restarting in [\d.]+ s$/.test(sentence)).length
  await expect.poll(ends, waitOptions).toBeGreaterThanOrEqual(3)
  expect(printed).toContain('restart failed: it did not become ready:')
  ending.abort()
  await done
})

test('a process that a signal ended is restarted; one that ends after the supervision is not', async () => {
  const { program, printed, ending, done } = await supervised('setInterval(() => {}, 1000)', () => true)
  const first = program.pid
  process.kill(first, 'SIGKILL')
  await expect.poll(() => printed.at(-1), waitOptions).toMatch(/^it restarted as process \d+$/)
  expect(printed[0]).toMatch(/^it ended with signal SIGKILL; restarting in [\d.]+ s$/)
  expect(program.pid).not.toBe(first)
  ending.abort()
  await done
  await program.kill()
  expect(program.isAlive).toBe(false)
  expect(printed).toHaveLength(2)
})
