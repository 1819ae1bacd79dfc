import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('../../..', import.meta.url))

interface Report {
  testResults: { name: string; message: string; assertionResults: { title: string; status: string }[] }[]
}

export interface Results {
  /** Status by test title of the tests that ran. */
  readonly statuses: ReadonlyMap<string, string>
  readonly output: string
}

const escaped = (title: string): string => title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

/** Runs named acceptance tests against the service whose sources are at `root`. */
export const runAcceptance = async (
  root: string,
  tests: readonly (readonly [suite: string, test: string])[],
): Promise<Results> => {
  // Temporary files of failing runs are removed with this folder.
  const folder = mkdtempSync(join(tmpdir(), 'fxd-planted-run-'))
  const reportFile = join(folder, 'report.json')
  const suites = [...new Set(tests.map(([suite]) => `test/acceptance/${suite}`))]
  const names = [...new Set(tests.map(([, test]) => escaped(test)))].join('|')
  const args = ['run', '--project', 'acceptance', '--reporter=json', `--outputFile=${reportFile}`]
  // Compiled code is cached by path, and each copy of the sources has another.
  const { FXD_ACCEPTANCE_URL: _, NODE_COMPILE_CACHE: __, ...env } = process.env
  const child = spawn(
    join(repository, 'bin/node'),
    [join(repository, 'node_modules/vitest/vitest.mjs'), ...args, '-t', `(${names})$`, ...suites],
    {
      cwd: repository,
      // An ordinary run must notice each defect, so long runs do not add cases here.
      env: { ...env, FXD_ACCEPTANCE_ROOT: root, FXD_TEST_EFFORT: '1', TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  child.stdout.on('data', (part) => (output += String(part)))
  child.stderr.on('data', (part) => (output += String(part)))
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
    const ran = report.testResults
      .flatMap(({ assertionResults }) => assertionResults)
      .filter(({ status }) => status === 'passed' || status === 'failed')
    return { statuses: new Map(ran.map(({ title, status }) => [title, status])), output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
