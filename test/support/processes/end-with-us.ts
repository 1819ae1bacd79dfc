import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * However this process ends, by a signal too, its end closes the guard's input, and the guard ends the
 * child. In a session of its own, so that a Ctrl-C does not end the guard first.
 */
export function endWithUs(child: ChildProcess): void {
  const guard = spawn('sh', ['-c', 'cat; kill -9 "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  const input = guard.stdin as Socket
  input.unref()
  // Once the child is gone its number may become somebody else's.
  child.once('exit', () => guard.kill('SIGKILL'))
}
