import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * Kills the child when this process ends, even by a signal: the end closes the input of a guard process, which then
 * kills the child. The guard has a separate session, so that Ctrl-C does not end it first.
 */
export function killWithParent(child: ChildProcess): void {
  const guard = spawn('sh', ['-c', 'cat; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  const input = guard.stdin as Socket
  input.unref()
  // After the end of the child, another process may get its process id.
  child.once('exit', () => guard.kill('SIGKILL'))
}
