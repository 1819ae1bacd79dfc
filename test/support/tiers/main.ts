/**
 * Runs a tier of the tests, or one stage of it: `bin/node test/support/tiers/main.ts check|smoke|test [stage]`.
 * Later stages run even after a failed stage. At the end it prints the failures, times and results of all stages;
 * its last line is `N passed, N failed`.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { printTable } from '../../bench/support/figures.ts'
import { cache } from '../processes/cached-folder.ts'
import { failureMark } from '../tally-reporter.ts'
import { type Stage, tiers } from './tiers.ts'

const repository = join(import.meta.dirname, '../../..')
const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
/** Node's cache of compiled code. */
const compiled = join(cache, 'compiled')
const compiledFilesMax = 20_000

const [name = '', only, ...rest] = process.argv.slice(2)
const tier = tiers[name]
if (tier === undefined || rest.length > 0) {
  console.error(`got "${process.argv.slice(2).join(' ')}", expected one of ${Object.keys(tiers).join(', ')}`)
  process.exit(2)
}
const stages = tier.filter((stage) => only === undefined || stage.name === only)
if (stages.length === 0) {
  console.error(`got stage "${only}", expected one of ${tier.map((stage) => stage.name).join(', ')}`)
  process.exit(2)
}

const failures: string[] = []
let running: ChildProcess | undefined
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    isInterrupted = true
    running?.kill(signal)
  })
}

/** The commit at which this branch left the main branch, or HEAD without a main branch. */
function base(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  try {
    return git('merge-base', 'HEAD', 'main')
  } catch {
    return 'HEAD'
  }
}

interface Result {
  readonly name: string
  readonly seconds: number
  readonly passed: number
  readonly failed: number
}

async function run({
  name: stage,
  projects,
  files = [],
  workers,
  changedOnly = false,
}: Stage): Promise<Result> {
  const args = [
    ...projects.map((project) => `--project=${project}`),
    ...(workers === undefined ? [] : [`--maxWorkers=${workers}`]),
    ...(changedOnly ? [`--changed=${base()}`] : []),
    ...files,
  ]
  const startedAt = performance.now()
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: repository,
    env: {
      // Hundreds of processes are started: with compiled code from a cache a start takes a third less time.
      NODE_COMPILE_CACHE: compiled,
      ...process.env,
      ...(process.stdout.isTTY && { FORCE_COLOR: '1' }),
    },
    stdio: ['inherit', 'pipe', 'inherit'],
  })
  running = child
  child.stdout.pipe(process.stdout, { end: false })
  let last = ''
  createInterface(child.stdout).on('line', (line) => {
    last = line
    if (line.startsWith(failureMark)) failures.push(line)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  running = undefined
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(last) ?? []
  const isNothingAffected = changedOnly && passed === '0' && failed === '0'
  return {
    name: stage,
    seconds: (performance.now() - startedAt) / 1_000,
    passed: Number(passed ?? 0),
    // A run that ended without its tally, or failed outside any test, counts as one failure.
    failed: Math.max(Number(failed ?? 0), code === 0 || isNothingAffected ? 0 : 1),
  }
}

/** Each checkout adds entries of its own, about 4,000, and Node never removes one. */
function boundCompiled(): void {
  if (!existsSync(compiled) || readdirSync(compiled, { recursive: true }).length <= compiledFilesMax) return
  // Moved first: processes of another run may write into the folder while it is removed.
  const old = mkdtempSync(`${compiled}-`)
  renameSync(compiled, old)
  rmSync(old, { recursive: true, force: true })
}

boundCompiled()
const results: Result[] = []
for (const stage of stages) if (!isInterrupted) results.push(await run(stage))

const sum = (of: (result: Result) => number): number => results.reduce((total, each) => total + of(each), 0)
const row = (what: string, seconds: number, passed: number, failed: number): string[] => [
  what,
  `${Math.round(seconds)} s`,
  String(passed),
  String(failed),
]
const total = {
  seconds: sum(({ seconds }) => seconds),
  passed: sum(({ passed }) => passed),
  // Each stage that did not run counts as a failure.
  failed: sum(({ failed }) => failed) + (stages.length - results.length),
}
console.log(`\n${failures.join('\n')}`)
printTable(
  ['stage', 'time', 'passed', 'failed'],
  [
    ...results.map((each) => row(each.name, each.seconds, each.passed, each.failed)),
    row('all', total.seconds, total.passed, total.failed),
  ],
)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
