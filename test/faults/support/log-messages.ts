import { readFileSync } from 'node:fs'
import { within } from './within.ts'

/** Number of log messages that begin with these words, over all runs of a process. */
export const countInLog = (log: string, words: string): number =>
  readFileSync(log, 'utf8').split(`"msg":"${words}`).length - 1

/** Resolves once the log has more such messages than `before`; returns the waiting time in ms. */
export async function untilLoggedAgain(
  log: string,
  words: string,
  before: number,
  deadlineMs: number,
): Promise<number> {
  const begun = performance.now()
  await within(deadlineMs, `"${words}" in ${log}`, () => countInLog(log, words) > before)
  return performance.now() - begun
}
