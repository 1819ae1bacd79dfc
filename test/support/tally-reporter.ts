import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** What a run comes to. A file that could not be loaded and an error outside any test count as failures. */
export function tally(modules: readonly TestModule[], strayErrors: readonly SerializedError[]) {
  let passed = 0
  let failed = strayErrors.length
  for (const module of modules) {
    let failedHere = 0
    for (const test of module.children.allTests()) {
      if (test.result().state === 'passed') passed += 1
      if (test.result().state === 'failed') failedHere += 1
    }
    failed += module.state() === 'failed' ? Math.max(1, failedHere) : failedHere
  }
  return { passed, failed }
}

/** Makes `N passed, N failed` the last line of a run, and a run that passed nothing a failure. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const { passed, failed } = tally(modules, strayErrors)
    process.once('exit', () => {
      process.stdout.write(`${passed} passed, ${failed} failed\n`)
      if (failed > 0 || passed === 0) process.exitCode = 1
    })
  }
}
