import { readFileSync } from 'node:fs'
import { within } from './within.ts'

/** How often a process has said what begins with these words, over all its lives. */
export const timesSaid = (log: string, words: string): number =>
  readFileSync(log, 'utf8').split(`"msg":"${words}`).length - 1

/** Resolves once it has said so more often than `before`; gives how long that took. */
export async function saidAgain(
  log: string,
  words: string,
  before: number,
  deadlineMs: number,
): Promise<number> {
  const begun = performance.now()
  await within(deadlineMs, `"${words}" in ${log}`, () => timesSaid(log, words) > before)
  return performance.now() - begun
}
