import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** Stops a process with SIGSTOP; its connections stay open. Resolves once it is frozen. Rejects if it has ended. */
export async function freezeProcess(child: ChildProcess | undefined): Promise<void> {
  child?.kill('SIGSTOP')
  // On a busy machine a signal arrives late, and the process works until then.
  for (;;) {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      throw new Error('a process that has ended cannot be frozen')
    if (stateOf(child.pid) === 'T') return
    await pause(1)
  }
}

const stateOf = (pid: number): string =>
  execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .slice(0, 1)
