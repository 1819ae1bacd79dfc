import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { bareEnv } from './bare-env.ts'
import { freezeProcess } from './freeze-process.ts'
import { killWithParent } from './kill-with-parent.ts'

const logTailLength = 4_000

export interface ServerProcessOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly answers: () => Promise<boolean>
  readonly startDeadlineMs: number
}

/** The process of a server, which can be killed, frozen and started again. */
export class ServerProcess {
  readonly #options: ServerProcessOptions
  #child: ChildProcess | undefined
  #ended: Promise<number | string> = Promise.resolve(0)

  constructor(options: ServerProcessOptions) {
    this.#options = options
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resolves at the end of the present process with its exit code or signal. */
  get ended(): Promise<number | string> {
    return this.#ended
  }

  /** Starts the process; resolves once it answers. */
  async start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const { name, command, args, env, answers, startDeadlineMs } = this.#options
    const started = spawn(command, args, {
      env: { ...bareEnv(), ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = started
    killWithParent(started)
    let output = ''
    const append = (piece: Buffer): void => void (output = (output + piece.toString()).slice(-logTailLength))
    started.stdout.on('data', append)
    started.stderr.on('data', append)
    this.#ended = new Promise((resolve) =>
      started.once('exit', (code, signal) => resolve(code ?? signal ?? -1)),
    )
    const end = Date.now() + startDeadlineMs
    while (!(await answers())) {
      if (started.exitCode === null && started.signalCode === null && Date.now() < end) await pause(20)
      else {
        started.kill('SIGKILL')
        throw new Error(`${name} did not start:\n${output}`)
      }
    }
  }

  /** Ends the process like a crash, with SIGKILL. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL')
    await this.#ended
  }

  /** Ends the process with SIGTERM; resolves with its exit code or signal. */
  stop(): Promise<number | string> {
    this.#child?.kill('SIGTERM')
    return this.#ended
  }

  /** Stops the process with SIGSTOP; its connections stay open. Resolves once it is frozen. */
  freeze(): Promise<void> {
    return freezeProcess(this.#child)
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }
}
