import { type ChildProcess, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'
import { killWithParent } from '../processes/kill-with-parent.ts'

/** Runs a command with a pseudo terminal as input, output and error; prints its output, and exits with its code. */
const inTerminal = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
print(pid, file=sys.stderr, flush=True)
while True:
    try:
        shown = os.read(fd, 65536)
    except OSError:
        break
    if not shown:
        break
    sys.stdout.buffer.write(shown)
    sys.stdout.buffer.flush()
    if os.environ.get('STAND_STILL') and b'is ready' in shown:
        sys.stdin.read()
        break
os.close(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`

export interface TerminalOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The terminal stops reading once the service has printed that it is ready. */
  readonly standsStill?: boolean
}

export interface Terminal {
  /** Output so far. */
  readonly screen: string
  /** Process id of the command, not of the terminal. */
  readonly pid: number
  /** Closes a terminal that has stopped reading, like closing its window. */
  close(): void
  /** Resolves with the exit code once the command has ended. */
  readonly ended: Promise<number | null>
}

/** Starts a command on a pseudo terminal, which is killed when the test ends. */
export function openTerminal(command: readonly string[], options: TerminalOptions): Terminal {
  const stands = options.standsStill ? { STAND_STILL: '1' } : {}
  const child: ChildProcess = spawn('python3', ['-c', inTerminal, ...command], {
    cwd: options.cwd,
    env: { ...options.env, ...stands },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  killWithParent(child)
  onTestFinished(() => void child.kill('SIGKILL'))
  let screen = ''
  let pid = 0
  child.stdout?.on('data', (part: Buffer) => void (screen += part.toString()))
  child.stderr?.on('data', (part: Buffer) => void (pid ||= Number(part.toString())))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return {
    get screen() {
      return screen
    },
    get pid() {
      return pid
    },
    close: () => void child.stdin?.end(),
    ended,
  }
}
