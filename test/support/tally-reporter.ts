import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Counts the results of a run. A file that could not be loaded and an error outside any test count as failures. */
export function tally(modules: readonly TestModule[], strayErrors: readonly SerializedError[]) {
  let passed = 0
  const failures = strayErrors.map(({ message }) => `outside any test: ${message}`)
  for (const module of modules) {
    const failedHere: string[] = []
    for (const test of module.children.allTests()) {
      if (test.result().state === 'passed') passed += 1
      if (test.result().state === 'failed') failedHere.push(`${module.relativeModuleId} > ${test.fullName}`)
    }
    if (module.state() === 'failed' && failedHere.length === 0) failedHere.push(module.relativeModuleId)
    failures.push(...failedHere)
  }
  return { passed, failures }
}

/** Start of the line of each failure; `tiers/main.ts` prints these lines again after the last stage. */
export const failureMark = 'FAILED '

/** Prints a line for each failure and `N passed, N failed` at the end of a run. A run without a passed test fails. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly SerializedError[]): void {
    const { passed, failures } = tally(modules, strayErrors)
    process.once('exit', () => {
      for (const failure of failures) process.stdout.write(`${failureMark}${failure.split('\n')[0]}\n`)
      process.stdout.write(`${passed} passed, ${failures.length} failed\n`)
      if (failures.length > 0 || passed === 0) process.exitCode = 1
    })
  }
}
