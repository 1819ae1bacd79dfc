import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

/** Resolves once it stands still in the middle of whatever it does, with its connections open. */
export async function standStill(child: ChildProcess | undefined): Promise<void> {
  child?.kill('SIGSTOP')
  // A signal takes its time on a busy machine, and until then it goes on working.
  for (;;) {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      throw new Error('a process that has ended cannot stand still')
    if (stateOf(child.pid) === 'T') return
    await pause(1)
  }
}

const stateOf = (pid: number): string =>
  execFileSync('ps', ['-o', 'state=', '-p', String(pid)], { encoding: 'utf8' })
    .trim()
    .slice(0, 1)
