import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Program } from '../../support/cluster/program.ts'
import { supervise } from '../../support/cluster/supervise.ts'

const within = { timeout: 20_000 }

/** Runs a script under supervision; `ready` tells whether it works. */
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
  const said: string[] = []
  const ending = new AbortController()
  program.begin()
  const over = supervise([program], { say: (sentence) => void said.push(sentence), signal: ending.signal })
  onTestFinished(async () => {
    ending.abort()
    await program.kill()
    rmSync(home, { recursive: true, force: true })
  })
  return { program, said, ending, over }
}

test('a process that cannot start is restarted again and again, and each time its exit code is said', async () => {
  const { said, ending, over } = await supervised('process.exit(3)', () => false)
  const ends = (): number =>
    said.filter((sentence) => /^it ended with exit code 3; restarting in [\d.]+ s$/.test(sentence)).length
  await expect.poll(ends, within).toBeGreaterThanOrEqual(3)
  expect(said).toContain('restart failed: it did not become ready:')
  ending.abort()
  await over
})

test('a process that a signal ended is restarted, and what ends after the supervision stays ended', async () => {
  const { program, said, ending, over } = await supervised('setInterval(() => {}, 1000)', () => true)
  const first = program.pid
  process.kill(first, 'SIGKILL')
  await expect.poll(() => said.at(-1), within).toMatch(/^it restarted as process \d+$/)
  expect(said[0]).toMatch(/^it ended with signal SIGKILL; restarting in [\d.]+ s$/)
  expect(program.pid).not.toBe(first)
  ending.abort()
  await over
  await program.kill()
  expect(program.isAlive).toBe(false)
  expect(said).toHaveLength(2)
})
