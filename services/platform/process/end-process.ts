import type { Clock } from '../../ports/clock.ts'

/** Maximum wait for threads of the pool; a call that takes longer may never return. */
const poolGraceMs = 1_000
const lookEveryMs = 10

/** The thread pool serves files and name look-ups. */
const isPoolBusy = (): boolean =>
  process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(name))

/** Kills this process immediately, whatever its threads do; pending output is lost. */
export const killProcess = (): void => void process.kill(process.pid, 'SIGKILL')

/**
 * Ends this process with `code`. `process.exit` waits for every thread of the pool. A thread that opens a pipe
 * or reads a lost disk would block it for ever. Where a thread is still busy after one second, the process is
 * killed.
 */
export async function endProcess(code: number, clock: Clock): Promise<never> {
  const end = clock.monotonicMs() + poolGraceMs
  while (isPoolBusy()) {
    if (clock.monotonicMs() >= end) killProcess()
    await clock.sleep(lookEveryMs)
  }
  process.exit(code)
}
