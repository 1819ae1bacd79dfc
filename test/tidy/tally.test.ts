import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { root } from './tree.ts'

/** Runs the test runner with our reporter over these files, as `make test` does. */
function run(files: Record<string, string>): { ending: string[]; status: number | null } {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-tally-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const runner = join(root, 'node_modules/vitest/vitest.mjs')
  const reporter = `--reporter=${join(root, 'test/support/tally-reporter.ts')}`
  const options = ['run', '--globals', '--root', folder, '--reporter=default', reporter]
  const { status, stdout } = spawnSync(process.execPath, [runner, ...options], {
    cwd: folder,
    encoding: 'utf8',
  })
  const isOurs = (line: string): boolean => /^FAILED |^\d+ passed, \d+ failed$/.test(line)
  return { ending: stdout.trimEnd().split('\n').filter(isOurs), status }
}

const good = "test('holds', () => expect(1).toBe(1))\n"

test('a run without failures ends with its count and status 0', () => {
  expect(run({ 'a.test.ts': good + good, 'b.test.ts': good })).toEqual({
    ending: ['3 passed, 0 failed'],
    status: 0,
  })
})

test('a failed test, a file that cannot load and an uncaught error are each named and counted as failures', () => {
  const files = {
    'good.test.ts': good,
    'bad.test.ts': "test('fails', () => expect(1).toBe(2))\n",
    'broken.test.ts': "import './nothing.ts'\n",
    'stray.test.ts': "test('a', async () => {\n  void Promise.reject(new Error('stray'))\n})\n",
  }
  const { ending, status } = run(files)
  expect(ending.slice(0, -1).sort()).toEqual([
    'FAILED bad.test.ts > fails',
    'FAILED broken.test.ts',
    'FAILED outside any test: stray',
  ])
  expect(ending.at(-1)).toBe('2 passed, 3 failed')
  expect(status).toBe(1)
})

test('a run without a test fails', () => {
  expect(run({ 'readme.txt': '' })).toEqual({ ending: ['0 passed, 0 failed'], status: 1 })
})
