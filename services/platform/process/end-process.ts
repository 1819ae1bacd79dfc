import type { Clock } from '../../ports/clock.ts'

/** Maximum wait for threads of the pool; a call that takes longer may never return. */
const poolGraceMs = 1_000
const lookEveryMs = 10

/** The thread pool serves files and name look-ups. */
const isPoolBusy = (): boolean =>
  process.getActiveResourcesInfo().some((name) => /^(FSReq|GetAddrInfo|GetNameInfo)/.test(name))

/** Kills this process immediately, whatever its threads do; pending output is lost. */
export const killProcess = (): void => void process.kill(process.pid, 'SIGKILL')

/** `process.exit` waits for threads of the pool, such as one that reads a lost disk; after a second the process is killed. */
export async function endProcess(code: number, clock: Clock): Promise<never> {
  const end = clock.monotonicMs() + poolGraceMs
  while (isPoolBusy()) {
    if (clock.monotonicMs() >= end) killProcess()
    await clock.sleep(lookEveryMs)
  }
  process.exit(code)
}
