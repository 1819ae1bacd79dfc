import type { Clock } from '../ports/clock.ts'

/** Longer than any call of the thread pool takes that will end at all. */
const poolGraceMs = 1_000
const lookEveryMs = 10

/** Files and names are the thread pool's work. */
const isPoolBusy = (): boolean =>
  process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(name))

/** Ends this process now, whatever its threads do; nothing more is written. */
export const killProcess = (): void => void process.kill(process.pid, 'SIGKILL')

/**
 * Ends this process with `code`. `process.exit` waits for every thread of the pool, and one that opens a pipe
 * or asks a lost disk would hold it for ever: where one is still busy after a second the process is killed.
 */
export async function endProcess(code: number, clock: Clock): Promise<never> {
  const end = clock.monotonicMs() + poolGraceMs
  while (isPoolBusy()) {
    if (clock.monotonicMs() >= end) killProcess()
    await clock.sleep(lookEveryMs)
  }
  process.exit(code)
}
